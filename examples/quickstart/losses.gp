# Loss curves of several runs: one line each for training (smoothed), points for validation.
# gnuplot -c losses.gp OUTPUT.png|OUTPUT.svg  NAME FOLDER  NAME FOLDER ...
# FOLDER has train.dat (step, loss) and validation.dat (step, loss), which report.py writes.
set encoding utf8
if (ARG1[strlen(ARG1) - 3:] eq ".png") {
  set terminal pngcairo size 1200,750 font "Sans,13" linewidth 1.6
} else {
  set terminal svg size 1200,750 font "Sans,16" linewidth 1.6 background "white"
}
set output ARG1
runs = (ARGC - 1) / 2
array argument[ARGC]
do for [i = 1:ARGC] { argument[i] = value("ARG" . i) }
name(i) = argument[2 * i]
file(i, kind) = argument[2 * i + 1] . "/" . kind . ".dat"
# Okabe and Ito's colours: told apart by colour-blind readers too.
array colour[7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]

set xlabel "step"
set ylabel "loss (nats per token)"
set grid linecolor rgb "#dddddd"
set key top right spacing 1.3 noenhanced
set border 3
set tics nomirror
plot for [i = 1:runs] file(i, "train") using 1:2 with lines linecolor rgb colour[(i - 1) % 7 + 1] title name(i) . ", training (smoothed)", \
     for [i = 1:runs] file(i, "validation") using 1:2 with linespoints dashtype 2 pointtype 7 pointsize 1 linecolor rgb colour[(i - 1) % 7 + 1] title name(i) . ", validation"
