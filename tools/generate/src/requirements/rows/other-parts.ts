import type { Chapter } from '../requirements.ts';

const bootstrap = 'packages/provider/src/machine/bootstrap.test.ts';
const hostCommands = 'packages/cli/src/host/commands.slow.test.ts';
const machineAndNode = 'packages/provider/src/machine/node.test.ts';
const runnerPool = 'packages/runners/src/pool/controller.test.ts';
const jobsThatFinish = 'test/regressions/runner-jobs-finish.test.ts';
const spread = 'packages/provider/src/spread/controller.test.ts';

export const otherParts: Chapter = {
  letter: 'F',
  title: 'Other parts of the same system',
  rows: [
    {
      id: 'F1',
      title: 'A Deployment is rolled when the set of Ready Macs has changed, so that its Pods spread over them.',
      changes: [11065],
      tests: [
        { file: spread, title: 'a Mac that joins rolls the Deployment once it has been Ready for a minute' },
        { file: spread, title: 'a flapping Mac rolls nothing until it is stable' },
        {
          file: 'test/kubernetes/provider-spread.test.ts',
          title: 'is rolled by get and patch of that one Deployment, and its Pods spread over the Mac that joined',
        },
      ],
    },
    {
      id: 'F2',
      title: 'Ready, addresses and phase of a machine follow the Node and its Mac, not the last bootstrap.',
      changes: [11065],
      tests: [
        { file: machineAndNode, title: 'follow the Node' },
        { file: machineAndNode, title: 'follow the server status of the Mac' },
        {
          file: 'packages/provider/src/machine/status.test.ts',
          title: 'is ready only with a Ready Node on a running Mac that the machine holds',
        },
      ],
    },
    {
      id: 'F3',
      title:
        'A bootstrap is retried, helped by one reboot, then given up with a quarantine; a missing Node is registered again.',
      changes: [11065, 10875],
      tests: [
        { file: bootstrap, title: 'is retried, and attempts are counted' },
        { file: bootstrap, title: 'is rebooted once, then released with all its objects' },
        {
          file: 'packages/provider/src/mac-host/release.test.ts',
          title: 'ends in quarantine after a failed bootstrap, longer each time',
        },
        { file: machineAndNode, title: 'is registered again after two minutes, without a bootstrap (INC-35)' },
      ],
    },
    {
      id: 'F4',
      title: 'A `RunnerPool` keeps runner Pods warm and replaces those that have finished.',
      changes: [10875],
      tests: [
        { file: runnerPool, title: 'creates and registers Pods until the pool is warm' },
        { file: runnerPool, title: 'a finished Pod is recorded, deleted and replaced' },
        { file: runnerPool, title: 'scales down the least useful Pods first, and waits for running jobs' },
        { file: runnerPool, title: 'rolls a new image within its cap, and lets jobs finish' },
        {
          file: 'packages/runners/src/pool/decide.property.test.ts',
          title: 'never deletes a Pod with a job, never exceeds replicas or the roll cap',
        },
        {
          file: jobsThatFinish,
          title: 'each job is run by one runner, whose Pod is then recorded, deleted and replaced',
        },
        { file: jobsThatFinish, title: 'no job was lost, and none ran twice' },
        {
          file: 'test/system/runner-on-a-mac.test.ts',
          title: 'waits for its configuration, runs one job, reports it, and ends with it',
        },
      ],
    },
    {
      id: 'F5',
      title: 'Operators prepare a Mac with one command, which proves the same things as the bootstrap.',
      changes: [10875],
      tests: [
        {
          file: hostCommands,
          title: 'verifies root, power settings and the console session, and lists the next steps',
        },
        {
          file: hostCommands,
          title: 'detects a wrong password at the console on a host with passwordless sudo (INC-07)',
        },
        { file: hostCommands, title: 'reports when no console session starts' },
      ],
    },
    {
      id: 'F6',
      title:
        'Before it starts a virtual machine the agent makes sure of the console session, and restarts loginwindow for it.',
      changes: [10875],
      tests: [
        {
          file: 'packages/tart-kubelet/src/agent/boot.test.ts',
          title: 'waits for a console session with a clear reason, and continues when there is one (INC-06)',
        },
        {
          file: 'packages/tart-kubelet/src/vm-start/console-session.test.ts',
          title: 'is restored after a boot without automatic login, and left alone when it exists (INC-06)',
        },
      ],
    },
    {
      id: 'F7',
      title:
        'A Helm chart has `macosFleet`, `runnersFleet` and `buildersFleet`; onboarding and image building are documented.',
      changes: [11072, 10981, 11056],
      tests: [
        {
          file: 'test/kubernetes/acceptance/installed/install.ts',
          title: 'helm install --wait ends when the managers are Ready and the fleets, still without Macs, are current',
        },
        { file: 'test/kubernetes/chart-fleets.test.ts', title: 'differ only in names, and where their values differ' },
        {
          file: 'test/kubernetes/chart-pages.test.ts',
          title: 'the first fleet of install.md has the names of the page',
        },
        {
          file: 'test/kubernetes/chart-pages.test.ts',
          title: 'the builders of image-builder.md have runners with the label of their environment',
        },
      ],
    },
  ],
};
