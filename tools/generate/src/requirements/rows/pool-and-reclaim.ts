import type { Chapter } from '../requirements.ts';

const chartFleets = 'test/kubernetes/chart-fleets.test.ts';
const chooseHost = 'packages/provider/src/claim/choose-host.test.ts';
const inventory = 'packages/provider/src/inventory/controller.test.ts';
const lifeOfAMachine = 'test/system/life-of-a-machine.test.ts';
const machineDeletion = 'packages/provider/src/machine/deletion.test.ts';
const release = 'packages/provider/src/mac-host/release.test.ts';
const sweep = 'packages/provider/src/sweep/controller.test.ts';

export const poolAndReclaim: Chapter = {
  letter: 'E',
  title: 'The pool, and Macs that got lost',
  rows: [
    {
      id: 'E1',
      title: 'A machine claims a Mac of the pool by prefix and renames it; released, it is wiped and named back.',
      changes: [11056],
      tests: [
        {
          file: lifeOfAMachine,
          title: 'two machines claim Macs from a pool of three and bootstrap them over SSH, and their Nodes are Ready',
        },
        { file: lifeOfAMachine, title: 'the Mac of a deleted machine is released and wiped' },
        { file: chooseHost, title: 'chooseHost' },
        { file: release, title: 'goes from the releasing name over a confirmed wipe to the pool name' },
      ],
    },
    {
      id: 'E2',
      title:
        'The leader finds Macs in `--orphan-reclaim-zones` and zones of machines that no pool, claim or machine accounts for.',
      changes: [11056],
      tests: [
        {
          file: 'test/regressions/stranded-hosts.test.ts',
          title: 'a renamed Mac of a machine that knows its server is never stranded',
        },
        {
          file: 'packages/provider/src/mac-host/controller.test.ts',
          title: 'is in a pool, reserved or stranded; names and pools in machine specs do not change that',
        },
        { file: inventory, title: 'also lists the zones of machines, as long as they exist' },
        {
          file: 'packages/provider/src/mac-host/held.test.ts',
          title: 'that is gone leaves the Mac stranded, and the Mac is never wiped',
        },
        { file: sweep, title: 'stops when it does not lead any more' },
      ],
    },
    {
      id: 'E3',
      title: 'The gauge `scaleway_orphan_servers` counts stranded Macs.',
      changes: [11056],
      tests: [
        {
          file: 'test/regressions/stranded-hosts.test.ts',
          title:
            'stranded Macs are counted and reported in the MacHost, an event and `tartan orphans`, and not touched',
        },
        {
          file: sweep,
          title:
            'the gauge counts stranded Macs, also between two sweeps, and has no value before the first or after a stop',
        },
        { file: 'packages/api/src/names.test.ts', title: 'names on the wire do not change' },
      ],
    },
    {
      id: 'E4',
      title:
        'The sweep only reports; `--orphan-reclaim-claim-name-prefix` lets it reclaim Macs with names of this cluster, no others.',
      changes: [11056],
      tests: [
        {
          file: 'test/regressions/stranded-hosts.test.ts',
          title:
            'with active reclaim, stranded Macs of this cluster are wiped and back in the pool, and a newly ordered one is not touched',
        },
        { file: sweep, title: 'only reports unless name prefixes are configured' },
        { file: sweep, title: 'releases stranded Macs with its prefixes in one write, and no others' },
        {
          file: 'packages/provider/src/sweep/decide.test.ts',
          title: 'is total, and never reclaims a Mac of others',
        },
        {
          file: 'packages/provider/src/flags/parse-flags.test.ts',
          title: 'with the arguments that production renders, stranded hosts are only reported',
        },
      ],
    },
    {
      id: 'E5',
      title:
        'Right before a reclaim ownership is read anew: an adopted Mac is skipped, and a failed read stops the round.',
      changes: [11056],
      tests: [
        {
          file: 'test/regressions/stranded-hosts.test.ts',
          title: 'a Mac with the name of a machine is neither adopted nor wiped; nothing is wiped while reads fail',
        },
        { file: sweep, title: 'skips a Mac that was adopted between the list and the live read' },
        { file: sweep, title: 'skips a Mac that is not stranded any more, although the cache says so' },
        { file: sweep, title: 'aborts for all Macs when a read fails, with an event, and resumes when reads work' },
      ],
    },
    {
      id: 'E6',
      title:
        'Release and adoption exclude each other: no machine claims a Mac between its release and the end of its wipe.',
      changes: [11056],
      tests: [
        { file: release, title: 'can be followed by a claim only when it is complete' },
        {
          file: 'packages/provider/src/mac-host/decide.test.ts',
          title: 'gives a pool name only to a Mac wiped for this release (invariant 4)',
        },
        { file: chooseHost, title: 'chooseHost' },
        { file: sweep, title: 'skips a Mac that is taken between the last read and the write' },
      ],
    },
    {
      id: 'E7',
      title:
        'A machine without `spec.adoptPoolPrefix` is released by `--default-adopt-pool-prefix`; without either, `ReleaseSkipped` says so.',
      changes: [11056],
      tests: [
        {
          file: 'test/regressions/stranded-hosts.test.ts',
          title: 'the Mac of a machine without a known pool is released to the pool of the manager',
        },
        {
          file: machineDeletion,
          title: 'releases its Mac, waits until the wipe has started, and leaves nothing behind',
        },
        {
          file: machineDeletion,
          title: 'reports ReleaseSkipped when no pool is known, and is removed without its Mac',
        },
        { file: inventory, title: 'is built from server names alone, and rebuilt after all MacHosts were deleted' },
      ],
    },
    {
      id: 'E8',
      title: 'The chart derives pool prefix, zones and claimed names from values that it has; only the toggle is new.',
      changes: [11056],
      tests: [
        { file: chartFleets, title: 'only report in production' },
        { file: chartFleets, title: 'reclaim Macs with our names when the switch is on' },
        { file: chartFleets, title: 'list the zones of existing fleets, each once, in order' },
        { file: chartFleets, title: 'match the names of the machines of every fleet' },
      ],
    },
    {
      id: 'E9',
      title: 'Alerts for stranded Macs and for machines that find no Mac for long ship as code.',
      changes: [11056],
      tests: [
        // For each rule: no alert a minute before it is due, an alert at that minute, and none if the condition is narrowly missed.
        { file: 'test/kubernetes/alerts.test.ts', title: 'alerts, evaluated on the real exporters' },
        { file: 'test/kubernetes/alerts.test.ts', title: 'each rule has a test' },
        { file: 'test/kubernetes/alerts.test.ts', title: 'no alert fires on a healthy fleet' },
      ],
    },
  ],
};
