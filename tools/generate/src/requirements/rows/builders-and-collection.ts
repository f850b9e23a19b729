import type { Chapter } from '../requirement.ts';

const agentFlags = 'packages/tart-kubelet/src/flags/parse-flags.test.ts';
const builder = 'packages/provider/src/machine/builder.test.ts';
const reclaimDisk = 'packages/host/src/steps/reclaim-disk.test.ts';
const builderAtWork = 'test/stories/001-a-builder-at-work.test.ts';
const bake = 'packages/tart-kubelet/src/collect/bake.test.ts';
const collector = 'packages/tart-kubelet/src/collect/collector.test.ts';
const images = 'packages/tart-kubelet/src/images/create-images.test.ts';

export const buildersAndCollection: Chapter = {
  letter: 'B',
  title: 'Builder nodes and garbage collection of virtual machines',
  rows: [
    {
      id: 'B1',
      title:
        'Every five minutes the agent deletes its virtual machines that no Pod of the Node backs, and stale images.',
      seeds: ['001'],
      tests: [
        {
          file: images,
          title: 'a clone goes when the journal and its mark say that it is ours and its Pod is gone (B1, B5)',
        },
        {
          file: 'packages/tart-kubelet/src/agent/collector.test.ts',
          title: 'does not delete a clone that was just made, although no list of Pods has its Pod yet (INC-26)',
        },
        { file: collector, title: 'collects at start, and then every five minutes' },
        {
          file: collector,
          title: 'an image goes with its tags once no Pod and no base needs it, and one of others stays (B1, INC-48)',
        },
      ],
    },
    {
      id: 'B2',
      title: 'What fails for lack of disk on the way to a running virtual machine frees space and is tried again.',
      seeds: ['001'],
      tests: [
        { file: images, title: 'a pull that finds no room collects, and tries once more (B2)' },
        {
          file: 'packages/tart-kubelet/src/agent/slots.test.ts',
          title: 'collects when a clone finds no room, and clones once more, as if nothing had been (B2)',
        },
        {
          file: collector,
          title: 'lack of space frees something even if the disk looks roomy, and then no more than that (B2)',
        },
      ],
    },
    {
      id: 'B3',
      title:
        'With `--disable-vm-gc`, which is off by default, there is no collector, and lack of disk collects nothing.',
      seeds: ['001'],
      tests: [
        {
          file: 'test/stories/001-a-bake-that-survives.test.ts',
          title: 'with --disable-vm-gc there is no collector at all, whatever time passes',
        },
        { file: images, title: 'with --disable-vm-gc there is no collector, and lack of space collects nothing (B3)' },
        { file: agentFlags, title: 'with nothing told it is the Node of its Mac' },
        { file: agentFlags, title: 'everything that the host steps pass is understood' },
      ],
    },
    {
      id: 'B4',
      title: 'The launchd job of the agent says `--disable-vm-gc` exactly while the machine has `ghActionsRunner`.',
      seeds: ['001'],
      tests: [
        {
          file: 'test/stories/001-a-bake-that-survives.test.ts',
          title: 'a builder is told --disable-vm-gc, at its first boot and by every roll; no other Mac is',
        },
        {
          file: 'packages/host/src/steps/agent-job.test.ts',
          title: 'keeps virtual machines of others exactly while the host is a builder (I-34)',
        },
        {
          file: 'packages/provider/src/host-work/host-spec-of.test.ts',
          title: 'is a builder when its machine says so',
        },
      ],
    },
    {
      id: 'B5',
      title: 'The collector deletes only what the agent itself has made, with or without the flag.',
      seeds: ['001'],
      tests: [
        {
          file: 'test/stories/001-a-bake-that-survives.test.ts',
          title: 'a bake that nobody works with, stopped and idle, is as safe',
        },
        { file: bake, title: 'survives, since it is not ours, whatever else is seen (B5)' },
        { file: images, title: 'a base that somebody else made under such a name is never collected (B5)' },
        {
          file: 'packages/tart-kubelet/src/collect/decide.test.ts',
          title: 'only what is ours, known to be dead and closed, and no Pod has, is ever deleted; a base is left',
        },
      ],
    },
    {
      id: 'B6',
      title: 'The collector never deletes a virtual machine that runs, or whose files a process has open.',
      seeds: ['001'],
      tests: [
        {
          file: 'test/stories/001-a-bake-that-survives.test.ts',
          title:
            'a bake is pushed through several rounds of the collector, which takes our own orphan and nothing else',
        },
        { file: bake, title: 'survives a journal that is wrong about it, since its files are open (B6)' },
        { file: bake, title: 'survives a journal that is wrong about it, since a tart works with it (B6)' },
        { file: collector, title: 'one that runs while tart calls it stopped is alive (INC-50)' },
        { file: collector, title: 'what comes to life between the decision and the delete is spared' },
      ],
    },
    {
      id: 'B7',
      title: 'A builder is a Node with an idle agent, a GitHub Actions runner, and verified tools that bake images.',
      seeds: ['001'],
      tests: [
        {
          file: 'packages/host/src/steps/builder-tools.test.ts',
          title: 'installs the three tools on a fresh Mac, and a second run changes nothing',
        },
        {
          file: 'packages/host/src/steps/actions-runner.test.ts',
          title: 'registers and starts a runner in the console session, and a second run changes nothing',
        },
        {
          file: 'packages/host/src/artifacts/push-artifact.test.ts',
          title: 'a byte that changed on the way is noticed by the host',
        },
        {
          file: builder,
          title: 'gets a token for its runner when the Mac says that it needs one, and none otherwise',
        },
        { file: builder, title: 'waits for the job of its runner, and says so' },
        {
          file: reclaimDisk,
          title: 'deletes what is stopped, keeps what it is told to, and says what there was and is',
        },
        { file: reclaimDisk, title: 'deletes nothing while nobody can say what runs' },
        {
          file: builderAtWork,
          title: 'its Mac is made ready, and its runner registers with a token that was made for it',
        },
        { file: builderAtWork, title: 'a bake makes room, builds, and pushes again after a push that failed' },
        { file: builderAtWork, title: 'it goes when its job has ended, its runner first' },
      ],
    },
  ],
};
