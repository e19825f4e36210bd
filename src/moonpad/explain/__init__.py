"""Scripts and command lines of others: read here, never executed.

    text ─markdown─▶ blocks ─bash_lexer─▶ tokens ─bash_parser─▶ statements ─interpreter, wrappers─▶ commands ─grouping─▶
    deployments ─judge─▶ findings, corrected lines, better ones

`script.read_script` and `script.read_command` give the commands, `judge.judge` the rest.
"""
