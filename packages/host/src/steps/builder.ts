import type { Artifact } from '../artifacts/artifact.ts';
import { scriptText } from '../engine/compose-script.ts';
import { renderPlist } from '../launchd-plist.ts';
import { defineStep } from './step.ts';

/** The tools with which a builder bakes and pushes images. */
export const builderTools = defineStep({
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
});

interface RunnerIntent {
  readonly runner: Artifact;
  readonly user: string;
  readonly name: string;
  readonly org: string;
  readonly labels: readonly string[];
}

/** The name that the runner itself gives its service. */
const jobLabel = ({ org, name }: RunnerIntent): string => `actions.runner.${org}.${name}`;

/** For the jobs of the runner. The runner would record sshd's PATH, which lacks the first two folders (INC-229). */
const jobPath = '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin';

const runnerPlist = (intent: RunnerIntent): string =>
  renderPlist({
    Label: jobLabel(intent),
    ProgramArguments: ['/opt/actions-runner/runsvc.sh'],
    WorkingDirectory: '/opt/actions-runner',
    EnvironmentVariables: { ACTIONS_RUNNER_SVC: '1' },
    RunAtLoad: true,
    KeepAlive: true,
    // Time to sign off at GitHub, which otherwise refuses the next runner for minutes. Below the 30 s that a reload waits for the end.
    ExitTimeOut: 20,
    ProcessType: 'Interactive',
    StandardOutPath: `/Users/${intent.user}/Library/Logs/${jobLabel(intent)}/runner.log`,
    StandardErrorPath: `/Users/${intent.user}/Library/Logs/${jobLabel(intent)}/runner.log`,
  });

/** The GitHub Actions runner of a builder. Restarting it kills its current job and the job's virtual machines. */
export const actionsRunner = defineStep({
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
  // Not needed for a new release or a restart: the registration belongs to the name.
  onDemandSecret: 'actionsRunnerToken',
  payload: (_, { actionsRunnerToken }) => actionsRunnerToken || undefined,
});
