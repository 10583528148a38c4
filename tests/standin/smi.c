/* What does nvidia-smi print on the machine that answers.h describes?
 *
 * A stand-in for tests: a compiled program, since a script in its place is found by the product. It answers from the
 * texts that were compiled in; a list of columns is put together from a table of fields. A word it does not know ends as
 * with the real tool: a line on stdout and exit code 2, or 6 where there is no such card.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/time.h>
#include <time.h>

struct answer { const char *words, *text; };
struct field { const char *name, *about; };
struct cell { const char *value, *unit; };

#include "answers.h"

static const int ANSWER_COUNT = sizeof ANSWERS / sizeof *ANSWERS;
static const int FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS;
static const int CARD_COUNT = sizeof CELLS / sizeof *CELLS;

/* The text with @NOW@ as C's ctime writes the moment. */
static void print_text(const char *text)
{
    const char *mark = strstr(text, "@NOW@");
    char stamp[40];
    time_t now = time(NULL);
    if (!mark) {
        fputs(text, stdout);
        return;
    }
    strftime(stamp, sizeof stamp, "%a %b %e %H:%M:%S %Y", localtime(&now));
    printf("%.*s%s%s", (int)(mark - text), text, stamp, mark + 5);
}

static int field_at(const char *name)
{
    for (int n = 0; n < FIELD_COUNT; n++)
        if (!strcasecmp(FIELDS[n].name, name))
            return n;
    return -1;
}

static void print_stamp(void)
{
    struct timeval now;
    char day[40];
    gettimeofday(&now, NULL);
    strftime(day, sizeof day, "%Y/%m/%d %H:%M:%S", localtime(&now.tv_sec));
    printf("%s.%03d", day, (int)(now.tv_usec / 1000));
}

static void print_cell(int card, int column, int with_units)
{
    const struct cell *cell = &CELLS[card][column];
    if (!strcmp(cell->value, "@STAMP@"))
        print_stamp();
    else if (with_units && *cell->unit)
        printf("%s %s", cell->value, cell->unit);
    else
        fputs(cell->value, stdout);
}

static void print_rows(const int *columns, int count, int card, int with_units)
{
    for (int n = 0; n < CARD_COUNT; n++) {
        if (card >= 0 && card != n)
            continue;
        for (int c = 0; c < count; c++) {
            print_cell(n, columns[c], with_units);
            fputs(c + 1 < count ? ", " : "\n", stdout);
        }
    }
    fflush(stdout);
}

static void print_head(const int *columns, int count, int with_units)
{
    for (int c = 0; c < count; c++) {
        const char *unit = CELLS[0][columns[c]].unit;
        fputs(FIELDS[columns[c]].name, stdout);
        if (with_units && *unit)
            printf(" [%s]", unit);
        fputs(c + 1 < count ? ", " : "\n", stdout);
    }
}

/* --query-gpu=LIST --format=csv[,noheader][,nounits] [-i CARD] [-l SECONDS | -lms MILLISECONDS] */
static int query_gpu(char *list, int argc, char **argv)
{
    int columns[128], count = 0, head = 1, units = 1, card = -1, csv = 0;
    long pause_ms = 0;
    for (char *name = strtok(list, ","); name && count < 128; name = strtok(NULL, ",")) {
        while (*name == ' ')
            name++;
        if ((columns[count++] = field_at(name)) < 0) {
            printf("Field \"%s\" is not a valid field to query.\n\n", name);
            return 2;
        }
    }
    for (int n = 2; n < argc; n++) {
        if (!strncmp(argv[n], "--format=csv", 12)) {
            csv = 1;
            head = !strstr(argv[n], "noheader");
            units = !strstr(argv[n], "nounits");
        } else if (!strcmp(argv[n], "-lms") && n + 1 < argc)
            pause_ms = atol(argv[++n]);
        else if (!strcmp(argv[n], "-l") && n + 1 < argc)
            pause_ms = 1000 * atol(argv[++n]);
        else if (!strcmp(argv[n], "-i") && n + 1 < argc)
            card = atoi(argv[++n]);
    }
    if (!csv) {
        puts("\"--format=\" switch is missing. Please run \"nvidia-smi -h\" for help.\n");
        return 2;
    }
    if (card >= CARD_COUNT) {
        puts("No devices were found");
        return 6;
    }
    if (head)
        print_head(columns, count, units);
    print_rows(columns, count, card, units);
    while (pause_ms > 0 && !ferror(stdout)) {
        struct timespec pause = {pause_ms / 1000, pause_ms % 1000 * 1000000};
        nanosleep(&pause, NULL);
        print_rows(columns, count, card, units);
    }
    return 0;
}

static int help_query_gpu(void)
{
    puts("List of valid properties to query for the switch \"--query-gpu=\":\n");
    for (int n = 0; n < FIELD_COUNT; n++)
        printf("\"%s\"\n%s\n\n", FIELDS[n].name, FIELDS[n].about);
    return 0;
}

/* Nothing computes on this machine: the head alone, unless it was declined. */
static int query_apps(const char *list, int argc, char **argv)
{
    for (int n = 2; n < argc; n++)
        if (strstr(argv[n], "noheader"))
            return 0;
    for (const char *c = list; *c; c++)
        printf(*c == ',' ? ", " : "%c", *c);
    puts("");
    return 0;
}

int main(int argc, char **argv)
{
    char words[4096] = "";
    for (int n = 1; n < argc; n++) {
        strncat(words, n > 1 ? " " : "", sizeof words - strlen(words) - 1);
        strncat(words, argv[n], sizeof words - strlen(words) - 1);
    }
    for (int n = 0; n < ANSWER_COUNT; n++)
        if (!strcmp(ANSWERS[n].words, words)) {
            print_text(ANSWERS[n].text);
            return 0;
        }
    if (argc > 1 && !strncmp(argv[1], "--query-gpu=", 12))
        return query_gpu(argv[1] + 12, argc, argv);
    if (argc > 1 && !strncmp(argv[1], "--query-compute-apps=", 21))
        return query_apps(argv[1] + 21, argc, argv);
    if (!strcmp(words, "--help-query-gpu"))
        return help_query_gpu();
    puts("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n");
    return 2;
}
