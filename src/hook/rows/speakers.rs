//! Programs that read text in a language of their own, in which other programs can be started.

use super::super::language::Language::{
    Awk, Gdb, Gnuplot, Julia, Lisp, Lldb, Lua, Node, Octave, Perl, Php, R, Ruby, Sed, Sql, Tcl, Vim,
};
use super::super::shell::Stdin;
use super::{BEHIND, Place, Program, of};
use Place::{Code, Command, Commands, File, Piped, Python, Unknown};

pub(super) const SPEAKERS: &[Program] = &[
    of("sed gsed")
        .joined("-i")
        .valued("-l --line-length")
        .runs(&[("-e --expression", Code(Sed)), ("-f --file", File(Sed))])
        .asks("--version --help")
        .then(0, Code(Sed)),
    of("awk gawk mawk nawk original-awk goawk frawk")
        .valued("-F -v --field-separator --assign -W")
        .runs(&[("-e --source", Code(Awk)), ("-f --file -E --exec", File(Awk)), ("-i --include -l --load", File(Awk))])
        .asks("--version --help")
        .then(0, Code(Awk)),
    of("perl perl5")
        .valued("-I")
        .joined("-M -m -F -x -D -C -i -d")
        .runs(&[("-e -E", Code(Perl))])
        .asks("-v -V --version --help -h")
        .then(0, File(Perl))
        .reads(Stdin::Code(Perl)),
    of("ruby jruby irb pry").valued("-I -r -C -E").joined("-F -x -K -T -i -W -0").runs(&[("-e", Code(Ruby))]).asks("--version --help -h").then(0, File(Ruby)).reads(Stdin::Code(Ruby)),
    of("rails rake thor").subs(&[of("runner r").valued("-e --environment").then(0, Code(Ruby))]),
    of("node nodejs ts-node tsx esno")
        .valued("-r -C -O --require --import --loader --experimental-loader --env-file --conditions --test-name-pattern --input-type")
        .runs(&[("-e -p -pe --eval --print", Code(Node))])
        .asks("-v --version --help -h")
        .then(0, File(Node))
        .reads(Stdin::Code(Node)),
    of("mongosh mongo").valued("--host --port -u -p --username --password").runs(&[("--eval", Code(Node)), ("-f --file", File(Node))]).reads(Stdin::Code(Node)),
    of("osascript").single().valued("-l -s").runs(&[("-e", Code(Lisp))]).then(0, File(Lisp)).reads(Stdin::Code(Lisp)),
    of("php php-cli hhvm").valued("-c -d -z -S -t").runs(&[("-r -B -R -E", Code(Php)), ("-f -F", File(Php))]).asks("-v -i -m -l --version --help").then(0, File(Php)).reads(Stdin::Code(Php)),
    of("lua luajit lua5.1 lua5.2 lua5.3 lua5.4 luau texlua").valued("-l").runs(&[("-e", Code(Lua))]).then(0, File(Lua)).reads(Stdin::Code(Lua)),
    of("tclsh wish expect jimsh").runs(&[("-c", Code(Tcl)), ("-f", File(Tcl))]).then(0, File(Tcl)).reads(Stdin::Code(Tcl)),
    of("emacs emacsclient xemacs").single().valued("-L -s -t -d --directory --socket-name")
        .runs(&[("--eval -eval --execute -execute -e", Code(Lisp)), ("-l -load --load --script -script", File(Lisp))])
        .asks("--version --help").reads(Stdin::Code(Lisp)),
    of("gimp gimp-console").single().runs(&[("-b --batch", Code(Lisp))]).asks("--version --help").then(0, Unknown),
    of("guile racket sbcl clisp ecl clojure clj bb elixir iex erl ghci groovy scala jshell raku swipl ocaml")
        .single()
        .valued("-L -s -t -d --directory --socket-name")
        .runs(&[
            ("--eval -eval --execute -execute -e -E -c -x -g", Code(Lisp)),
            ("-l -load --load --script -script --file", File(Lisp)),
        ])
        .asks("--version --help")
        .then(0, File(Lisp))
        .reads(Stdin::Code(Lisp)),
    of("soffice libreoffice localc lowriter").then(0, Code(Lisp)),
    of("r rscript littler").valued("--args --encoding --gui -g").runs(&[("-e", Code(R)), ("-f --file", File(R))]).asks("--version --help").then(0, File(R)).reads(Stdin::Code(R)),
    of("julia").valued("-t -p -C -J -O --threads --procs --sysimage --startup-file").runs(&[("-e -E --eval --print", Code(Julia)), ("-L --load", File(Julia))]).asks("-v --version -h --help").then(0, File(Julia)).reads(Stdin::Code(Julia)),
    of("octave octave-cli matlab scilab").single().valued("-p --path").runs(&[("--eval -batch -r -e", Code(Octave))]).asks("-v --version").then(0, File(Octave)).reads(Stdin::Code(Octave)),
    of("gnuplot").runs(&[("-e", Code(Gnuplot)), ("-c", File(Gnuplot))]).asks("-V --version").then(0, File(Gnuplot)).reads(Stdin::Code(Gnuplot)),
    of("sqlite3 sqlite litecli sqlcipher spatialite")
        .single()
        .valued("-separator -newline -nullvalue -init -maxsize -mmap -vfs")
        .runs(&[("-cmd", Code(Sql))])
        .then(1, Code(Sql))
        .reads(Stdin::Code(Sql)),
    of("duckdb").single().valued("-separator -newline -nullvalue").runs(&[("-c -s -cmd", Code(Sql)), ("-f -init", File(Sql))]).then(1, Code(Sql)).reads(Stdin::Code(Sql)),
    of("psql pgcli usql cockroach")
        .valued("-d -h -p -U -v -P -F -R -T --dbname --host --port --username --set --variable --pset")
        .runs(&[("-c --command", Code(Sql)), ("-f --file", File(Sql)), ("-o -L --output --log-file", Piped)])
        .reads(Stdin::Code(Sql)),
    of("mysql mariadb mycli")
        .valued("-h -u -P -D -S --host --user --port --database --socket")
        .joined("-p")
        .runs(&[("-e --execute --init-command", Code(Sql)), ("--pager", Commands)])
        .reads(Stdin::Code(Sql)),
    of("clickhouse clickhouse-local clickhouse-client").runs(&[("-q --query", Code(Sql))]).reads(Stdin::Code(Sql)),
    of("gdb gdb-multiarch rust-gdb cgdb arm-none-eabi-gdb")
        .single()
        .valued("-p -c -d -s -e -cd -tty -pid -core -symbols -exec -se --pid --core --symbols --exec --se --directory --cd --tty")
        .runs(&[
            ("-ex -iex -eval-command -init-eval-command --eval-command --init-eval-command --ex --iex", Code(Gdb)),
            ("-x -ix -command -init-command --command --init-command", File(Gdb)),
            ("-P --python -python", Python),
            ("-args --args", Command),
        ])
        .asks("--version --help")
        .then(0, Unknown)
        .reads(Stdin::Code(Gdb)),
    of("lldb rust-lldb")
        .valued("-f -c -p -n -a --file --core --attach-pid --attach-name --arch")
        .runs(&[
            ("-o -O -k -K --one-line --one-line-before-file --one-line-on-crash", Code(Lldb)),
            ("-s -S --source --source-before-file", File(Lldb)),
        ])
        .asks("-v --version -P --python-path -h --help")
        .then(BEHIND, Command)
        .reads(Stdin::Code(Lldb)),
    of("vim nvim vi view ex gvim vimdiff nvimdiff rvim mvim vimx")
        .flags("-es -Es -ens -Ens")
        .valued("-w -W -T -i --listen --servername --startuptime")
        .runs(&[
            ("-c --cmd + --remote-send --remote-expr", Code(Vim)),
            ("-S -s -u -U -l", File(Vim)),
        ])
        .asks("--version --help -h")
        .reads(Stdin::Code(Vim)),
    of("kak helix hx micro nano emacs-nox joe").runs(&[("-e -E", Code(Vim))]),
    of("blender upbge").single().valued("-o -f -F -E -t -s -e -S --render-output --render-frame --engine --threads --addons")
        .runs(&[("-P --python --python-text --python-expr --python-console", Python)]),
    of("freecad freecadcmd").asks("--version --help").runs(&[("-c --console -P --python-path -M", Python)]).then(0, Unknown),
    of("inkscape qgis qgis_process scribus krita nuke natron houdini analyzeheadless ghidra idat ida64 weechat kodi")
        .runs(&[("--code -py --python-script -script", Python)])
        .then(0, Unknown),
];
