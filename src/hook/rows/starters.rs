//! Programs that start the command in their arguments, or in an option.

use super::super::language::Language::{Lines, Make, Node, Shell};
use super::super::shell::Stdin;
use super::{BEHIND, Place, Program, of};
use Place::{
    Assigned, Closed, Code, Command, Commands, Data, Entry, File, Looked, Pair, Python, Typed,
    Unknown,
};

const REMOTE: Stdin = Stdin::Code(Shell);

/// Of npm and its like.
const PACKAGES: &[Program] = &[
    of("exec x dlx")
        .valued("-p -w --package --workspace")
        .runs(&[("-c --call --script-shell", Commands)])
        .then(0, Command),
    of("config c").subs(&[of("set").then(0, Assigned)]),
    of("set-script").then(1, Commands),
];

pub(super) const STARTERS: &[Program] = &[
    of("env").valued("-u -C --unset --chdir -P").runs(&[("-S --split-string", Place::Split)]).then(0, Command),
    of("sudo")
        .valued("-u -g -h -p -C -T -U -D -R -r -t -c --user --group --host --prompt --chdir --chroot --role --type")
        .opens("-s -i --login --shell")
        .then(0, Command),
    of("doas pkexec sudo-rs").valued("-u -C --user").opens("-s -i").then(0, Command),
    of("gosu su-exec setuidgid s6-setuidgid").then(1, Command),
    of("exec").valued("-a").then(0, Command),
    of("ssh-agent").valued("-a -t -P").then(0, Command),
    of("nohup setsid builtin noglob nocorrect busybox toybox unbuffer rlwrap chronic catchsegv nocache tsocks torsocks torify dbus-run-session \
        dbus-launch eatmydata fakeroot fakechroot linux32 linux64 winpty wine wine64 pkgx setarch chpst cgexec")
        .then(0, Command),
    of("command").asks("-v -V").then(0, Command),
    of("nice").valued("-n --adjustment").then(0, Command),
    of("ionice").valued("-c -n -p -P -u --class --classdata").then(0, Command),
    of("stdbuf").valued("-i -o -e --input --output --error").then(0, Command),
    of("time gtime").valued("-f -o --format --output").then(0, Command),
    of("timeout gtimeout").valued("-s -k --signal --kill-after").then(1, Command),
    of("xargs gxargs")
        .valued("-n -P -I -L -s -d -a -E -J -R --max-args --max-procs --delimiter --arg-file --max-chars --process-slot-var --replace")
        .then(0, Command),
    of("strace").valued("-o -e -p -s -u -E -a -I -O -S -X -P -b -U --output --trace").then(0, Command),
    of("ltrace").valued("-o -e -p -s -u -a -A -D -F -l -n -w -x -X --output").then(0, Command),
    of("truss ktrace dtruss").valued("-o -p").then(0, Command),
    of("perf rr heaptrack valgrind uftrace lttng samply rbspy hotspot operf")
        .valued("-o -e -F -p -C --output --event --call-graph")
        .subs(&[
            of("stat record trace mem c2c lock sched kvm kmem timechart live run").valued("-o -e -F -p -C -r -c -m --output --event --call-graph --freq --repeat").then(0, Command),
            of("report annotate script diff list archive replay ps pack dump probe version bench inject test").then(0, Unknown),
        ])
        .then(0, Command),
    of("watch").valued("-n --interval").then(0, Commands),
    of("viddy hwatch").valued("-n --interval -s --shell").then(0, Commands),
    of("chrt").valued("-T -P -D").then(1, Command),
    of("taskset faketime").then(1, Command),
    of("numactl").valued("-N -m -C -i --cpunodebind --membind --physcpubind --interleave --preferred").then(0, Command),
    of("prlimit softlimit cpulimit").valued("-l --pid").then(0, Command),
    of("schedtool").runs(&[("-e", Command)]).then(0, Unknown),
    of("flock").valued("-w -E --timeout --conflict-exit-code").runs(&[("-c --command", Commands)]).then(1, Command),
    of("caffeinate").valued("-t -w").then(0, Command),
    of("proxychains proxychains4 proxychains-ng").valued("-f").then(0, Command),
    of("xvfb-run").valued("-n -e -f -p -s -w --server-num --error-file --auth-file --server-args --wait").then(0, Command),
    // Options of these take two values.
    of("bwrap proot nsjail minijail0").reads(Stdin::Commands).then(0, Unknown),
    of("firejail systemd-inhibit sandbox-exec unshare nsenter setpriv")
        .valued("-t -S -G -R --target --setuid --setgid --root --wd --wdns --propagation --map-user --map-group --setgroups \
                 --reuid --regid --ruid --euid --rgid --egid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig --selinux-label \
                 --apparmor-profile --who --what --why --mode --user --caps")
        .reads(Stdin::Commands)
        .then(0, Command),
    of("chroot").valued("--userspec --groups").reads(Stdin::Commands).then(1, Command),
    of("newgrp").reads(Stdin::Commands).then(1, Commands),
    of("sg").runs(&[("-c", Commands)]).reads(Stdin::Commands).then(1, Commands),
    of("systemd-run run0")
        .valued("-p -u -E -H -M --unit --property --description --slice --uid --gid --nice --working-directory --setenv --on-calendar --on-active \
                 --on-boot --host --machine --service-type --user --chdir")
        .opens("-S --shell")
        .then(0, Command),
    of("systemd-cat").valued("-t -p --identifier --priority").then(0, Command),
    of("systemd-nspawn").valued("-D -i -M -u --directory --image --machine --user").reads(Stdin::Commands).then(0, Command),
    of("start-stop-daemon").valued("-p -n -u -c -g -k -N -P -I -r -d -s -R --pidfile --name --user --chuid --group --umask --nicelevel --chdir --signal --retry")
        .flags("--start --stop --status").runs(&[("-x -a --exec --startas", Entry)]).then(BEHIND, Command),
    of("daemonize daemon").valued("-e -o -p -l -u -E -n --name --pidfile --output").then(0, Command),
    of("ip").valued("-n -f --netns").subs(&[
        of("netns net").subs(&[of("exec e ex exe").then(1, Command)]),
        of("vrf").subs(&[of("exec").then(1, Command)]),
    ]),
    of("hyperfine").valued("-w -r -m -M -P -D -L -S -n --warmup --runs --min-runs --max-runs --parameter-scan --parameter-list --export-json --export-csv \
             --export-markdown --style --command-name --shell --output --input --time-unit")
        .runs(&[("-s -p -c -C --setup --prepare --conclude --cleanup", Commands)]).then(0, Place::Each),
    of("entr").runs(&[("-s", Commands)]).then(0, Command),
    of("watchexec").valued("-e -w -i -f -d -s --exts --watch --ignore --filter --debounce --signal --workdir --shell --delay-run").then(0, Commands),
    of("nodemon chokidar supervisor pm2 forever").valued("-e -w -i -d --ext --watch --ignore --delay --name").runs(&[("-x -c --exec --command --interpreter", Commands)]).then(0, Unknown),
    of("concurrently npm-run-all run-p run-s").valued("-n -c -p --names --prefix-colors --prefix").then(0, Place::Each),
    of("cross-env dotenv").valued("-f -e").then(0, Command),
    of("cross-env-shell").then(0, Commands),
    of("op doppler infisical dotenvx chamber teller aws-vault envchain sops")
        .valued("-f -p -c --env-file --project --config --account --token --env").subs(&[
            of("run exec-env exec-file").valued("-f -p -c --env-file --project --config --env --format").runs(&[("--command", Commands)]).then(0, Command),
            of("exec").valued("-f -p -c --duration --region").then(1, Command),
            of("read get set list ls item account whoami signin secrets login inject encrypt decrypt -d -e add remove rotate setup document vault").then(0, Data),
        ]).then(0, Unknown),
    of("direnv").subs(&[of("exec").then(1, Command)]),
    of("mise rtx").subs(&[
        of("exec x").runs(&[("-c --command", Commands)]).then(BEHIND, Command),
        of("watch").then(BEHIND, Command),
    ]),
    of("pyenv rbenv nodenv goenv jenv plenv").subs(&[
        of("exec").then(0, Command),
        of("which whence prefix version versions global local shell install uninstall rehash root shims commands init help").then(0, Data),
    ]),
    of("asdf").subs(&[of("exec").then(0, Command), of("env").then(1, Command)]),
    of("bundle bundler").subs(&[of("exec e").then(0, Command)]),
    of("nix").valued("-f -I --option --store --file").subs(&[
        of("run shell develop").valued("-f -I --option --file --argstr --arg --expr").runs(&[("-c --command", Command)]).then(BEHIND, Command),
    ]),
    of("nix-shell").valued("-I -A --arg --argstr --option").runs(&[("--run --command", Commands)]).reads(Stdin::Commands).then(1, Unknown),
    of("guix").subs(&[of("shell environment").valued("-D -m -f -e -L").then(BEHIND, Command)]),
    of("devbox devenv flox toolbox distrobox")
        .subs(&[
            of("run").valued("-c -d --container --distro --release --config").then(0, Command),
            of("enter shell").valued("-c -n -a -H --container --name").runs(&[("-e", Command)]).then(BEHIND, Command),
            of("init add rm list search install update info create generate services version ls stop").then(0, Data),
        ])
        .then(0, Unknown),
    of("flatpak snap").valued("--user").subs(&[of("run").valued("--branch --arch --env --filesystem").runs(&[("--command", Entry)]).then(1, Command)]),
    of("ssh autossh slogin")
        .valued("-b -c -B -D -E -e -F -I -i -J -L -l -m -O -p -Q -R -S -W -w")
        .runs(&[("-o", Pair("proxycommand localcommand knownhostscommand remotecommand"))])
        .asks("-V -G -N")
        .reads(REMOTE)
        .then(1, Commands),
    of("sshpass").valued("-p -f -d -P").then(0, Command),
    of("mosh et").valued("-p --port --predict --family").runs(&[("--ssh --server", Commands)]).then(1, Commands),
    of("pssh parallel-ssh pdsh clush dsh").valued("-h -H -l -p -o -e -t -w -x -O -g -m --hosts --user --par").then(0, Commands),
    of("rsh remsh").valued("-l").then(1, Commands),
    of("vagrant multipass lima limactl colima").valued("-f").subs(&[
        of("ssh exec shell").valued("--workdir").runs(&[("-c --command", Commands)]).reads(REMOTE).then(1, Command),
    ]),
    of("lima").then(0, Command),
    of("gcloud az aws fly flyctl heroku").valued("--project --zone --profile --region -a --app -g -n").runs(&[("--command -C --scripts --parameters", Commands)])
        .subs(&[
            of("run").valued("-a --app").then(0, Commands),
            of("run:detached").valued("-a --app").then(0, Commands),
        ]),
    of("srun mpirun mpiexec orterun prun jsrun aprun ibrun prte")
        .valued("-n -N -c -p -t -J -o -e -A -w -x -np -host -H -H -hostfile -machinefile -wdir -ppn --ntasks --nodes --cpus-per-task \
                 --partition --time --job-name --output --error --account --qos --mem --gres --host --hostfile --map-by --bind-to --np --mca -mca -genv -env --container-image")
        .then(0, Command),
    of("sbatch qsub bsub").valued("-n -N -c -p -t -J -o -e -A -q -l -V -j -S -W -R -M").runs(&[("--wrap", Commands)]).reads(Stdin::Code(Shell)).then(0, Command),
    of("ts tsp nq pueue").subs(&[of("add").valued("-g -l -a -w --group --label").then(0, Commands)]).then(0, Command),
    of("socat").then(0, Place::Address),
    of("nc ncat netcat").valued("-p -s -w -q -i -x -X -P").runs(&[("-e -c --exec --sh-exec --lua-exec", Commands)]),
    of("screen").valued("-S -t -c -e -h -p -s -T -r -x").subs(&[of("stuff").then(0, Typed), of("exec screen").then(0, Command)]).asks("-ls -list -wipe").then(0, Command),
    of("zellij").subs(&[
        of("run r").valued("-d -n --direction --name --cwd").then(BEHIND, Command),
        of("action ac").subs(&[of("write-chars").then(0, Typed), of("new-pane").valued("-d -n --cwd").then(BEHIND, Command)]),
    ]),
    of("dtach abduco").valued("-A -c -n -N").then(0, Command),
    of("xterm gnome-terminal konsole alacritty kitty wezterm foot urxvt rxvt xfce4-terminal terminator tilix st")
        .valued("-T -t -geometry --title --working-directory --config-file -o --class --tab").runs(&[("-e -x --command --execute", Command)])
        .subs(&[of("start").valued("--cwd --class").then(0, Command)]).then(0, Command),
    of("cargo")
        .valued("-C -Z -p --color --manifest-path --target --features --bin --example --package")
        .runs(&[("--config", Pair("runner wrapper linker rustc rustdoc credential editor"))])
        .subs(&[
            of("watch").valued("-w -i -d -C -E -x --watch --ignore --delay --exec").runs(&[("-s --shell", Commands)]).then(0, Command),
        ]),
    of("go").valued("-C").subs(&[of("run build test vet install generate tool list get").runs(&[("-exec -toolexec -vettool", Commands)]).single()]),
    of("npx bunx pnpx dlx").valued("-p --package --node-options").runs(&[("-c --call --shell --script-shell", Commands)]).then(0, Command),
    of("npm pnpm yarn").valued("-C -w -F --prefix --workspace --filter --cwd --dir --registry")
        .runs(&[("--script-shell --shell", Commands)]).subs(PACKAGES),
    of("bun").runs(&[("-e -p --eval --print", Code(Node)), ("--shell", Commands)]).subs(PACKAGES),
    of("deno").subs(&[of("eval").valued("--ext").then(0, Code(Node)), of("run").reads(Stdin::Code(Node)).then(0, File(Node))]),
    of("make gmake bmake remake")
        .valued("-C -o -W -I --directory --include-dir")
        .runs(&[("-f --file --makefile", File(Make)), ("--eval -E", Closed)])
        .then(0, Assigned),
    of("just").valued("-d -f --working-directory --justfile --set").runs(&[("-c --command", Command), ("--shell", Commands)]).then(0, Assigned),
    of("tar gtar bsdtar star")
        .valued("-f -C -X -T -b -g -V -L -N --file --directory --exclude --exclude-from --files-from --transform --strip-components")
        .flags("--checkpoint")
        .runs(&[
            ("--to-command -I --use-compress-program -F --info-script --new-volume-script --rsh-command --rmt-command --compress-program", Commands),
            ("--checkpoint-action", Pair("exec")),
        ]),
    of("rsync").valued("-f -T -B -M --exclude --include --filter --files-from").runs(&[("-e --rsh --rsync-path", Commands)]),
    of("scp sftp").valued("-c -F -i -J -l -P").runs(&[("-S", Commands), ("-o", Pair("proxycommand localcommand knownhostscommand"))]).reads(Stdin::Code(Lines)),
    of("ftp lftp telnet mail mailx ed red").runs(&[("-c -e", Code(Lines))]).reads(Stdin::Code(Lines)),
    of("zip").valued("-b -n -t -x -i -P -O").runs(&[("-TT --unzip-command", Commands)]),
    of("7z 7za unrar rar gpg openssl bc units"),
    of("dc").runs(&[("-e --expression", Code(Lines))]).reads(Stdin::Code(Lines)),
    of("gcc g++ cc c++ clang clang++ cpp gfortran gdc").single().valued("-o -I -L -l -x -D -U -include -isystem -MF -MT -Xlinker -Xpreprocessor -arch -target")
        .runs(&[("-wrapper", Place::Parted)]),
    of("rg").valued("-e -f -g -t -T -A -B -C -m -d -j -M -r --regexp --file --glob --type").runs(&[("--pre --hostname-bin", Commands)]),
    of("man").valued("-L -M -S -s -C -R -E -e -r -m").runs(&[("-P -H --pager --html", Commands)]),
    of("less more most").valued("-b -h -j -k -o -O -P -p -t -T -x -y -z").runs(&[("+", Code(Lines))]),
    of("split gsplit").valued("-a -b -C -l -n -t").runs(&[("--filter", Commands)]),
    of("sort gsort").valued("-k -t -o -S -T --parallel --key").runs(&[("--compress-program --compress-prog", Commands)]),
    of("yt-dlp youtube-dl").valued("-o -f -P").runs(&[("--exec --exec-before-download --netrc-cmd --downloader --external-downloader", Commands)]),
    of("pylint").valued("-j -d -e -f --rcfile --disable --enable").runs(&[("--init-hook", Python)]),
    of("pygmentize").runs(&[("-x", Python)]),
    of("mitmproxy mitmdump mitmweb").valued("-p -m -w -r --mode").runs(&[("-s --scripts", Python)]),
    of("apt apt-get aptitude dpkg").runs(&[("-o --option", Pair("invoke hooks"))]),
    of("export readonly declare typeset local setenv").then(0, Assigned),
    of("which type whereis readlink realpath ls echo printf locate dirname").then(0, Looked),
    of("shopt").valued("-p").subs(&[of("expand_aliases").then(0, Closed).reads(Stdin::Other)]),
    of("hash").runs(&[("-p", Closed)]),
    of("enable").runs(&[("-f", Closed)]),
    of("bind").runs(&[("-x", Closed)]),
    of("fc").runs(&[("-e -s", Closed)]).asks("-l"),
    of("complete compgen").runs(&[("-C", Commands)]),
    of("mapfile readarray").valued("-d -n -O -s -u -c").runs(&[("-C", Commands)]),
    of("jobs").runs(&[("-x", Command)]),
    of("cp ln mv install link ditto dd cat gcp gln gmv ginstall").valued("-t -m -o -g -S --mode --owner --group --target-directory").then(0, Place::Copied),
    of("at batch crontab").asks("-l").then(0, Closed).reads(Stdin::Commands),
];
