//! Programs with subcommands, most of which run nothing: containers, clusters, git, terminals.

use super::{BEHIND, Place, Program, of};
use Place::{Command, Commands, Data, Entry, Python, Remote, Setting, Typed, Unknown};

const IN_CONTAINER: &str = "-a -c -e -h -l -m -p -u -v -w --add-host --annotation --attach --blkio-weight --cap-add --cap-drop --cgroup-parent \
    --cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares --cpus --cpuset-cpus --cpuset-mems --device --dns --dns-search --dns-option --domainname \
    --env --env-file --expose --gpus --group-add --health-interval --health-retries --health-timeout --hostname --ip --ip6 --ipc --isolation --label \
    --label-file --link --log-driver --log-opt --mac-address --memory --memory-swap --mount --name --net --network --network-alias --oom-score-adj --pid \
    --pids-limit --platform --pull --publish --restart --runtime --security-opt --shm-size --stop-signal --stop-timeout --storage-opt --sysctl --tmpfs \
    --ulimit --user --userns --uts --volume --volumes-from --volume-driver --workdir --detach-keys --index --profile --scale --pod --arch --os --secret --authfile";

const EXEC: Program = of("exec")
    .valued("-e -u -w --env --env-file --user --workdir --detach-keys --index")
    .then(1, Command);
const RUN: Program = of("run create")
    .valued(IN_CONTAINER)
    .runs(&[("--entrypoint", Entry), ("--health-cmd", Commands)])
    .then(1, Command);

const COMPOSE: Program = of("compose")
    .valued(
        "-f -p --file --project-name --profile --env-file --project-directory --ansi --progress",
    )
    .subs(&[EXEC, RUN]);

const CONTAINERS: &[Program] = &[
    EXEC,
    RUN,
    COMPOSE,
    of("container pod").subs(&[EXEC, RUN]),
    of("buildx machine scout model").subs(&[of("ssh").then(1, Commands)]),
];

const KUBECTL: &str = "-c -n -f -l -o -s --container --namespace --filename --selector --output --context --cluster --kubeconfig --user --image --env \
    --labels --overrides --port --restart --target --token --server --as --as-group --profile --limits --requests --serviceaccount --pod-running-timeout";

const KUBE: &[Program] = &[
    of("exec rsh").valued(KUBECTL).then(1, Command),
    of("run debug").valued(KUBECTL).then(BEHIND, Command),
];

const FETCHING: &[(&str, Place)] = &[("--upload-pack", Commands)];

const GIT: &[Program] = &[
    of("grep").valued("-e -f -A -B -C -m").runs(&[("-O --open-files-in-pager", Commands)]),
    of("clone").valued("-b -o -j --branch --origin --depth --reference --jobs --template --filter")
        .runs(&[("-u --upload-pack", Commands), ("-c --config", Setting)]).then(0, Remote),
    of("fetch pull ls-remote fetch-pack remote").runs(FETCHING).then(0, Remote),
    of("push send-pack").runs(&[("--receive-pack --exec", Commands)]).then(0, Remote),
    of("archive").valued("-o --output --format --prefix").runs(&[("--exec", Commands), ("--remote", Remote)]),
    of("rebase").valued("-s -X -C --onto --strategy --strategy-option --whitespace --empty").runs(&[("-x --exec", Commands)]),
    of("bisect").subs(&[of("run").then(0, Command), of("visualize view").then(0, Data)]),
    of("submodule").subs(&[of("foreach").then(0, Commands), of("add").valued("-b --name --reference --depth").then(0, Remote)]),
    of("filter-branch").valued("-d --original --subdirectory-filter")
        .runs(&[("--setup --env-filter --tree-filter --index-filter --parent-filter --msg-filter --commit-filter --tag-name-filter", Commands)]),
    of("filter-repo").runs(&[
        ("--blob-callback --commit-callback --tag-callback --reset-callback --filename-callback --message-callback --name-callback --email-callback \
          --refname-callback --file-info-callback --done-callback", Python),
    ]),
    of("difftool").valued("-t --tool").runs(&[("-x --extcmd", Commands)]),
    of("config").subs(&[
        of("set").valued("-f --file --type --comment --value").then(0, Setting),
        of("get list unset rename-section remove-section edit").then(0, Data),
    ]).valued("-f --file --type --blob --default --comment").then(0, Setting),
    of("send-email").runs(&[("--to-cmd --cc-cmd --sendmail-cmd --header-cmd --smtp-server --envelope-sender", Commands)]),
    of("daemon").runs(&[("--access-hook", Commands)]),
    of("instaweb web--browse").runs(&[("-d -b --httpd --browser", Commands)]),
    of("for-each-repo").valued("--config").then(0, Place::Command),
];

const PANE: &str = "-c -e -F -f -h -l -n -p -s -t -x -y -b -T -S -B -D";

const TMUX: &[Program] = &[
    of("new new-session neww new-window splitw split-window respawnp respawn-pane respawnw respawn-window")
        .valued("-c -e -F -l -n -p -s -t -x -y").then(0, Commands),
    of("popup display-popup").valued("-b -c -d -e -h -s -S -t -T -w -x -y").then(0, Commands),
    of("send send-keys").valued("-t -N -c").then(0, Typed),
    of("run run-shell").valued("-t -d -c").then(0, Commands),
    of("if if-shell").valued("-t").then(0, Place::Each),
    of("pipep pipe-pane").valued("-t").then(0, Commands),
    of("set set-option setw set-window-option set-environment setenv").valued("-t").then(1, Commands),
    of("bind bind-key set-hook command-prompt confirm confirm-before menu display-menu").valued(PANE).then(0, Unknown),
    of("load-buffer loadb paste-buffer pasteb set-buffer setb").valued("-b -t -n -s").then(0, Typed),
];

pub(super) const TOOLS: &[Program] = &[
    of("docker podman nerdctl finch")
        .valued("-H -c -l --host --context --config --log-level --tlscacert --tlscert --tlskey --namespace -n --address -a --root --url --connection")
        .subs(CONTAINERS),
    of("docker-compose podman-compose").valued("-f -p --file --project-name --profile --env-file --project-directory").subs(&[EXEC, RUN]),
    of("buildah crictl ctr runc crun").valued("-n -a -i -r --namespace --address --runtime-endpoint").subs(&[
        of("run exec create").valued(IN_CONTAINER).then(1, Command),
        of("task tasks t container containers c").subs(&[of("exec").valued("--exec-id --cwd --user").then(1, Command), of("run").then(2, Command)]),
    ]),
    of("lxc incus lxc-attach lxd").valued("--project").subs(&[of("exec").valued("--env --cwd --user --group --mode").then(1, Command), of("shell").then(1, Command)]),
    of("machinectl").subs(&[of("shell").valued("-M -E --uid --setenv").then(1, Command)]),
    of("kubectl oc k microk8s.kubectl k3s kubecolor minikube").valued(KUBECTL).subs(KUBE).then(0, Place::Data),
    of("devcontainer").subs(&[of("exec").valued("--workspace-folder --container-id --config").then(0, Command)]),
    of("git g hub").valued("-C --git-dir --work-tree --namespace --super-prefix --attr-source")
        .runs(&[("-c --config-env", Setting)]).subs(GIT).then(0, Data),
    of("git-filter-repo").runs(&[("--blob-callback --commit-callback --tag-callback --filename-callback --message-callback --name-callback --email-callback --refname-callback", Python)]),
    of("gh glab").valued("-R --repo").subs(&[
        of("alias").subs(&[of("set").then(1, Commands)]),
        of("codespace cs").subs(&[of("ssh").valued("-c -p --codespace --profile --server-port").then(BEHIND, Command)]),
        of("extension ext").subs(&[of("exec").then(0, Unknown)]),
        of("config").subs(&[of("set").then(1, Commands)]),
    ]),
    of("tmux byobu").valued("-c -f -L -S -T").subs(TMUX),
];
