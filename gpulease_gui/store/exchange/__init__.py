"""How do spreadsheets, pasted text and bundles of other people come in without doing harm?"""
