import type { Chapter } from '../requirements.ts';

const bootstrap = 'packages/provider/src/machine/bootstrap.test.ts';
const manager = 'packages/provider/src/manager/create-provider.test.ts';
const openArtifact = 'packages/host/src/artifacts/artifact.test.ts';
const runCommand = 'packages/host/src/connection/run-command.test.ts';
const secrets = 'packages/host/src/engine/secrets.test.ts';
const stepHash = 'packages/host/src/engine/step-hash.test.ts';

export const bootstrapTransport: Chapter = {
  letter: 'A',
  title: 'Bootstrap transport',
  rows: [
    {
      id: 'A1',
      title: 'A command on a host takes its input as a stream, at the pace of the host, never whole in memory.',
      changes: [11065],
      tests: [
        { file: runCommand, title: 'gets its complete input, and then its end' },
        { file: runCommand, title: 'applies backpressure when the host does not read its input' },
        {
          file: 'packages/host/src/connection/command-input.test.ts',
          title: 'the next chunk of an input is sent only when the socket has taken the previous one',
        },
      ],
    },
    {
      id: 'A2',
      title: 'All pushes of an artifact read one file on the disk of the manager, each through a few small buffers.',
      changes: [11065],
      tests: [
        {
          file: 'test/regressions/rollout-memory.test.ts',
          title: 'no manager came near its memory limit: one that pushed had no more copies of the file than a standby',
        },
        {
          file: openArtifact,
          title: 'costs each push a few small buffers, however large it is and however slowly its Mac reads (INC-11)',
        },
        { file: openArtifact, title: 'is read completely by each reader' },
        {
          file: 'packages/host/src/artifacts/push-artifact.test.ts',
          title: 'two concurrent pushes of the same file do not disturb each other',
        },
      ],
    },
    {
      id: 'A3',
      title: 'Small payloads, secrets above all, go the same way: as the input of a command, never as its argument.',
      changes: [11065],
      tests: [
        { file: secrets, title: 'was used by every step that got one' },
        { file: secrets, title: 'was in no argument of any process on the host' },
        {
          file: 'packages/host/src/engine/converge-host.test.ts',
          title: 'never leaves half a payload when the connection is interrupted',
        },
      ],
    },
    {
      id: 'A4',
      title:
        'A roll of the whole fleet fits the memory of the manager: `--machine-max-concurrent-reconciles` pushes at a time, usually 4.',
      changes: [11065],
      tests: [
        {
          file: 'test/regressions/rollout-memory.test.ts',
          title: 'no manager came near its memory limit: one that pushed had no more copies of the file than a standby',
        },
        {
          file: bootstrap,
          title: 'are limited: without a free slot the machine is requeued',
        },
        {
          file: 'packages/provider/src/slots.test.ts',
          title: 'are limited, and releasing one twice frees one (INC-11)',
        },
        { file: 'packages/provider/src/flags/flag-table.test.ts', title: 'a flag that is not given has its default' },
      ],
    },
    {
      id: 'A5',
      title: 'An agent with other content is rolled onto every Ready machine, and nothing else is done to it.',
      changes: [11065],
      tests: [
        {
          file: 'test/regressions/rollout-memory.test.ts',
          title:
            'a new agent drifts every Ready machine at once, and after the first machine all others are updated at the same time',
        },
        {
          file: 'test/system/life-of-a-machine.test.ts',
          title: 'a new agent is rolled out: first to one machine alone, then to the other',
        },
        {
          file: 'packages/provider/src/fleet/controller.test.ts',
          title:
            'one canary is updated first, then up to maxUnavailable at a time until all are updated; each emits one event (INC-11, INC-12)',
        },
        {
          file: 'packages/provider/src/host-work/host-spec.test.ts',
          title: 'changes whenever the hash of every host does',
        },
        {
          file: 'packages/host/src/engine/whole-host.slow.test.ts',
          title: 'gets a new agent, and no other change',
        },
        {
          file: stepHash,
          title: 'changes with the content of the agent for the two steps that install it, and for no other',
        },
        {
          file: stepHash,
          title: 'does not change with comments, nor with the name and local path of an artifact',
        },
        {
          file: 'packages/host/src/engine/plan.test.ts',
          title: 'has exactly the steps whose stamp is missing or different',
        },
        {
          file: 'packages/provider/src/machine/roll.test.ts',
          title: 'waits for its turn, is rolled, and reports UpToDate',
        },
        {
          file: 'packages/provider/src/host-work/create-host-work.test.ts',
          title: 'changes nothing on a converged Mac with a pinned key',
        },
      ],
    },
    {
      id: 'A6',
      title: 'Of two managers one leads; when it is gone or cut off the other takes over, and never do both act.',
      changes: [11065],
      tests: [
        {
          file: 'test/regressions/rollout-memory.test.ts',
          title: 'the leader is killed during the rollout, and the other manager finishes it',
        },
        {
          file: 'test/regressions/rollout-memory.test.ts',
          title: 'all Nodes stayed Ready, and no Mac was bootstrapped again',
        },
        { file: manager, title: 'one leads; when it stops the other leads at once' },
        {
          file: manager,
          title: 'a frozen leader is replaced within its lease, and its gate stays closed when it thaws',
        },
        { file: manager, title: 'when the leader loses the API server, its gate closes before the other leads' },
        {
          file: 'packages/kube/src/leader/two-processes.slow.test.ts',
          title: 'when the leader is killed, the other process leads',
        },
        { file: manager, title: 'a leader that reads another holder in the Lease stops leading at once' },
        {
          file: manager,
          title: 'a manager that has not noticed yet that another one leads starts no work on a Mac',
        },
        { file: bootstrap, title: 'is not started by a manager that lost leadership' },
        { file: bootstrap, title: 'is not sent when leadership was lost while credentials were made' },
      ],
    },
  ],
};
