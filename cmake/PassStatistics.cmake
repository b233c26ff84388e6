# Gives the passes of a generated header statistics that count in every build: passes/Statistics.h.
file(READ ${INPUT} text)
string(REPLACE "::mlir::Pass::Statistic " "::taylor::PassStatistic " text "${text}")
file(WRITE ${OUTPUT} "${text}")
