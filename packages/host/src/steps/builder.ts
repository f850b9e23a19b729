import type { Artifact } from '../artifacts/artifact.ts';
import { scriptText } from '../engine/compose-script.ts';
import { renderPlist } from '../launchd-plist.ts';
import type { Step } from './step.ts';

interface ToolsIntent {
  readonly packer: Artifact;
  readonly crane: Artifact;
  readonly oras: Artifact;
  /** The command that makes room before a bake. */
  readonly reclaim: string;
}

/** What a builder bakes and ships images with. */
export const builderTools: Step<ToolsIntent> = {
  name: 'builder-tools',
  title: 'install what images are baked with',
  optional: true,
  deadline: 120_000,
  intent: ({ ghActionsRunner: builder }) =>
    builder && {
      packer: builder.packer,
      crane: builder.crane,
      oras: builder.oras,
      reclaim: scriptText('installed/tartan-reclaim-disk'),
    },
  environment: ({ packer, crane, oras, reclaim }) => ({
    PACKER: packer.sha256,
    CRANE: crane.sha256,
    ORAS: oras.sha256,
    RECLAIM: reclaim,
  }),
  artifacts: ({ packer, crane, oras }) => [packer, crane, oras],
};

interface RunnerIntent {
  readonly runner: Artifact;
  readonly user: string;
  readonly name: string;
  readonly org: string;
  readonly labels: readonly string[];
}

/** As the runner itself calls its service. */
const jobLabel = ({ org, name }: RunnerIntent): string => `actions.runner.${org}.${name}`;

/** For the jobs of the runner. sshd's PATH, which the runner would note down by itself, has neither of the first two (INC-229). */
const jobPath = '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin';

const runnerPlist = (intent: RunnerIntent): string =>
  renderPlist({
    label: jobLabel(intent),
    arguments: ['/opt/actions-runner/runsvc.sh'],
    workingDirectory: '/opt/actions-runner',
    environment: { ACTIONS_RUNNER_SVC: '1' },
    runAtLoad: true,
    keepAlive: true,
    // It says goodbye to GitHub, which otherwise refuses the next one for minutes. Below the 30 s that a reload waits for the job to go.
    exitTimeOut: 20,
    processType: 'Interactive',
    log: `/Users/${intent.user}/Library/Logs/${jobLabel(intent)}/runner.log`,
  });

/** The GitHub Actions runner of a builder. Restarting it ends the job that it runs, and with that the job's virtual machines. */
export const actionsRunner: Step<RunnerIntent> = {
  name: 'actions-runner',
  title: 'run GitHub Actions',
  optional: true,
  needsIdle: true,
  // At worst: 60 s to unpack, 120 s to register, and a restart with the old job to wait for.
  deadline: 300_000,
  intent: ({ user, nodeName, ghActionsRunner: builder }) =>
    builder && {
      runner: builder.runner,
      user,
      name: nodeName,
      org: builder.org,
      labels: [...builder.labels].sort(),
    },
  environment: (intent) => ({
    RUNNER: intent.runner.sha256,
    RUNNER_USER: intent.user,
    RUNNER_NAME: intent.name,
    ORG: intent.org,
    LABELS: intent.labels.join(','),
    JOB: jobLabel(intent),
    JOB_PATH: jobPath,
    PLIST: runnerPlist(intent),
  }),
  artifacts: ({ runner }) => [runner],
  // Not for a new release, nor to start it again: the registration belongs to the name.
  onDemandSecret: 'actionsRunnerToken',
  payload: (_, { actionsRunnerToken }) => actionsRunnerToken || undefined,
};
