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
          title: 'two are claimed from a pool of three, made ready over SSH, and their Nodes are Ready',
        },
        { file: lifeOfAMachine, title: 'one that is deleted gives its Mac back, wiped' },
        { file: chooseHost, title: 'chooseHost' },
        { file: release, title: 'goes from the releasing name over a wipe that is seen to the pool name' },
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
          title:
            'one whose machine is known by its server only, as somebody has renamed the Mac, is never taken for lost',
        },
        {
          file: 'packages/provider/src/mac-host/controller.test.ts',
          title:
            'is in the pool, about to be taken, or stranded: neither a name nor a pool that a machine says makes it more',
        },
        { file: inventory, title: 'lists the zones of machines too, for as long as they are there' },
        {
          file: 'packages/provider/src/mac-host/held.test.ts',
          title: 'that vanished leaves it stranded, and it is never wiped',
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
            'it and one that leaked long ago are stranded: counted, told of on the MacHost, by an event and by `tartan orphans`, and left alone',
        },
        {
          file: sweep,
          title:
            'the gauge counts stranded Macs, also between two sweeps, and has no value before the first or after a stop',
        },
        { file: 'packages/api/src/names.test.ts', title: 'names on the wire stay as they are' },
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
            'with active reclaim, those of this cluster are wiped and back in the pool, and one that a person has just ordered is not',
        },
        { file: sweep, title: 'only reports unless it was told which names are its own' },
        { file: sweep, title: 'releases stranded Macs of its own, in one write, and no others' },
        {
          file: 'packages/provider/src/sweep/decide.test.ts',
          title: 'is total, and never reclaims a Mac of others',
        },
        {
          file: 'packages/provider/src/flags/parse-flags.test.ts',
          title: 'as production renders them, stranded hosts are only reported',
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
          title:
            'one that bears the name of a machine is neither adopted nor wiped; while nobody can look, nothing is wiped',
        },
        { file: sweep, title: 'skips one that was adopted after it was listed and before it was looked at' },
        { file: sweep, title: 'skips one that is not stranded any more, although its own copy says so' },
        { file: sweep, title: 'aborts for all Macs when a read fails, with an event, and resumes when reads work' },
      ],
    },
    {
      id: 'E6',
      title:
        'Release and adoption exclude each other: no machine claims a Mac between its release and the end of its wipe.',
      changes: [11056],
      tests: [
        { file: release, title: 'can be claimed only when it is over' },
        {
          file: 'packages/provider/src/mac-host/decide.test.ts',
          title: 'only one that was wiped for this release gets a pool name (invariant 4)',
        },
        { file: chooseHost, title: 'chooseHost' },
        { file: sweep, title: 'skips one that is taken between its last look and its write' },
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
          title:
            'a machine that never said which pool it came from goes back to that of the manager, so that no more are lost',
        },
        {
          file: machineDeletion,
          title: 'releases its Mac, waits until the wipe has started, and leaves nothing behind',
        },
        {
          file: machineDeletion,
          title: 'reports ReleaseSkipped when no pool is known, and is removed without its Mac',
        },
        { file: inventory, title: 'is made from names alone, and again after all of it was deleted' },
      ],
    },
    {
      id: 'E8',
      title: 'The chart derives pool prefix, zones and claimed names from values that it has; only the toggle is new.',
      changes: [11056],
      tests: [
        { file: chartFleets, title: 'in production they report' },
        { file: chartFleets, title: 'and with the one switch they give back what bears our names' },
        { file: chartFleets, title: 'zones are those of fleets that there are, each once, in order' },
        { file: chartFleets, title: 'machines of every fleet are named so that the sweep knows them' },
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
