<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN" sourcelanguage="en">
<context>
    <name>Navigation</name>
    <message>
        <source>Pages</source>
        <translation>页面</translation>
    </message>
    <message>
        <source>More pages</source>
        <translation>更多页面</translation>
    </message>
</context>
<context>
    <name>PromiseBar</name>
    <message>
        <source>{kept} kept, {broken} broken, {warned} with a warning, {unknown} unknown, {na} not applicable</source>
        <translation>{kept} 项相符，{broken} 项不符，{warned} 项警告，{unknown} 项未知，{na} 项不适用</translation>
    </message>
</context>
<context>
    <name>RawOutput</name>
    <message>
        <source>Raw output, only the beginning is shown</source>
        <translation>原始输出，仅显示开头</translation>
    </message>
    <message>
        <source>Raw output</source>
        <translation>原始输出</translation>
    </message>
</context>
</TS>
