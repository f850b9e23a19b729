import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { visibleLength } from '../../output/terminal-text.ts';
import { type Canvas, emptyState, type LiveState, render } from './render.ts';
import { fleetPage } from './testing/macs.ts';

const canvas: Canvas = { columns: 80, rows: 24, style: { colours: false }, now: 4100 };
const keys = 'Enter: roll a new agent   q: stop';
const started = [
  { text: 'Kubernetes is up at https://127.0.0.1:6443', doneAt: 900 },
  { text: '3 simulated Macs at a simulated Scaleway', doneAt: 1400 },
];
const log = ['  mac-1      Adopted', '  mac-2      Adopted', '  mac-1      joined'];
const commands = [
  { command: 'export KUBECONFIG=/tmp/x/kubeconfig' },
  { command: 'kubectl get pods', comment: 'the Pods' },
  { command: 'kubectl exec -it build-1 -- sh', comment: 'a shell' },
];
const up: LiveState = { ...emptyState, steps: started, fleet: fleetPage(3), log, keys };

const cases: readonly [what: string, state: LiveState, on: Partial<Canvas>, lines: readonly string[]][] = [
  ['nothing yet', emptyState, {}, []],
  [
    'what starts: what is there has a tick, what is under way turns',
    { ...emptyState, steps: [...started, { text: 'The provider starts', doneAt: undefined }] },
    {},
    [
      '✓ Kubernetes is up at https://127.0.0.1:6443 (0.9 s)',
      '✓ 3 simulated Macs at a simulated Scaleway (1.4 s)',
      '⠹ The provider starts (4.1 s)',
    ],
  ],
  [
    'what was under way when all was stopped does not turn, and no key is named',
    { ...emptyState, steps: [{ text: 'The provider starts', doneAt: undefined }], keys, isFinal: true },
    {},
    ['· The provider starts (4.1 s)'],
  ],
  [
    'the table, in columns that fit, and what it comes to',
    { ...up, steps: [], log: [] },
    {},
    [
      'MACHINE   FLEET   PHASE   HOST        STATE   FOR   NODE    AGENT    VMS',
      'mac-1     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-1',
      'mac-2     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-2',
      'mac-3     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-3',
      '3 of 3 machines Ready, 3 virtual machines, 0 free in the pool. Why something is',
      'as it is: tartan explain NAME.',
      '',
      keys,
    ],
  ],
  [
    'few rows: no blank lines, the last step, the fleet, the latest of the log, and the keys',
    up,
    { rows: 10 },
    [
      '✓ 3 simulated Macs at a simulated Scaleway (1.4 s)',
      'MACHINE   FLEET   PHASE   HOST        STATE   FOR   NODE    AGENT    VMS',
      'mac-1     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-1',
      'mac-2     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-2',
      'mac-3     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-3',
      '3 of 3 machines Ready, 3 virtual machines, 0 free in the pool. Why something is',
      '  mac-2      Adopted',
      '  mac-1      joined',
      keys,
    ],
  ],
  [
    'more machines than fit are counted',
    { ...emptyState, fleet: fleetPage(9), keys },
    { rows: 8, columns: 200 },
    [
      'MACHINE   FLEET   PHASE   HOST                                   STATE   FOR   NODE    AGENT    VMS',
      ...[1, 2, 3].map(
        (n) =>
          `mac-${n}     macos   Ready   48d7f3f6-1c2b-4d5e-8f90-00000000000${n}   held    30m   Ready   v1.2.3   1/2 build-${n}`,
      ),
      '… and 6 more',
      '9 of 9 machines Ready, 9 virtual machines, 0 free in the pool. Why something is as it is: tartan explain NAME.',
      keys,
    ],
  ],
  [
    'a narrow terminal leaves columns out, rather than cut the names of machines',
    { ...emptyState, fleet: fleetPage(1, 'tartan-macos-x7k2p-', 1) },
    { columns: 40 },
    [
      'MACHINE                PHASE   NODE',
      'tartan-macos-x7k2p-1   Ready   Ready',
      '1 of 1 machine Ready, 1 virtual machine,',
      '1 free in the pool. Why something is as',
      'it is: tartan explain NAME.',
    ],
  ],
  [
    'with short names a narrow terminal has room for guests',
    { ...emptyState, fleet: fleetPage(1) },
    { columns: 40, rows: 4 },
    [
      'MACHINE   PHASE   NODE    VMS',
      'mac-1     Ready   Ready   1/2 build-1',
      '1 of 1 machine Ready, 1 virtual machine,',
    ],
  ],
  [
    'names are cut when nothing else is left to leave out',
    { ...emptyState, fleet: fleetPage(1, 'a-machine-of-which-the-name-never-ends-') },
    { columns: 30, rows: 5 },
    [
      'MACHINE                  PHASE',
      'a-machine-of-which-th…   Ready',
      '1 of 1 machine Ready, 1',
      'virtual machine, 0 free in the',
    ],
  ],
  ['an empty fleet says so', { ...emptyState, fleet: fleetPage(0) }, {}, ['There are no machines and no Macs.']],
  [
    'of several lines about keys the last one is kept',
    { ...up, keys: `export KUBECONFIG=/x\n${keys}` },
    { rows: 2 },
    [keys],
  ],
  [
    'few rows keep the first commands for another terminal',
    { ...up, commands },
    { rows: 12 },
    [
      '✓ 3 simulated Macs at a simulated Scaleway (1.4 s)',
      'MACHINE   FLEET   PHASE   HOST        STATE   FOR   NODE    AGENT    VMS',
      'mac-1     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-1',
      'mac-2     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-2',
      'mac-3     macos   Ready   48d7f3f6…   held    30m   Ready   v1.2.3   1/2 build-3',
      '3 of 3 machines Ready, 3 virtual machines, 0 free in the pool. Why something is',
      '  mac-2      Adopted',
      '  mac-1      joined',
      'In another terminal:',
      'export KUBECONFIG=/tmp/x/kubeconfig',
      keys,
    ],
  ],
  [
    'a command wider than the terminal is continued with a backslash, its comment is cut',
    { ...emptyState, commands },
    { columns: 24 },
    [
      'In another terminal:',
      'export KUBECONFIG=/tmp/\\',
      'x/kubeconfig',
      'kubectl get pods   # th…',
      'kubectl exec -it build-\\',
      '1 -- sh',
    ],
  ],
  ['after the end commands are not shown', { ...emptyState, commands, isFinal: true }, {}, []],
  [
    'the log of a Pod stands apart from events',
    { ...emptyState, log, podLog: ['kubectl logs build-1', '  booted'] },
    {},
    ['kubectl logs build-1', '  booted', '', ...log],
  ],
  ['text of others cannot move the cursor', { ...emptyState, log: ['a\u001B[2Jb\tc'] }, {}, ['a�[2Jb c']],
  ['colours of others are none without colours', { ...emptyState, log: ['\u001B[31mred\u001B[0m'] }, {}, ['red']],
  [
    'a coloured line that is cut does not colour the next',
    { ...emptyState, log: ['\u001B[31mabcdef'] },
    { columns: 4, style: { colours: true } },
    ['\u001B[31mabc…\u001B[0m'],
  ],
];

describe('the live view shows', () => {
  for (const [what, state, on, lines] of cases)
    test(what, () => assert.deepEqual(render(state, { ...canvas, ...on }), lines));

  test('key hints dimmed and ticks green', () => {
    const lines = render({ ...emptyState, steps: started, keys }, { ...canvas, style: { colours: true } });
    assert.ok(lines[0]?.startsWith('\u001B[32m✓\u001B[0m Kubernetes'));
    assert.equal(lines.at(-1), `\u001B[2m${keys}\u001B[0m`);
  });
});

const escape = '\u001B';
const colour = new RegExp(`${escape}\\[[\\d;]*m`, 'g');
const text = fc.string({ unit: 'binary', maxLength: 60 });
const anyState: fc.Arbitrary<LiveState> = fc.record({
  steps: fc.array(fc.record({ text, doneAt: fc.option(fc.nat(), { nil: undefined }) }), { maxLength: 6 }),
  fleet: fc.option(
    fc.tuple(fc.nat({ max: 9 }), text).map(([count, name]) => fleetPage(count, name)),
    { nil: undefined },
  ),
  log: fc.array(text, { maxLength: 30 }),
  podLog: fc.array(text, { maxLength: 5 }),
  commands: fc.array(fc.record({ command: text, comment: text }), { maxLength: 10 }),
  keys: text,
  isFinal: fc.boolean(),
});

test('every state fits the terminal without control characters, deterministically (property test)', () => {
  const size = fc.record({ columns: fc.integer({ min: 1, max: 200 }), rows: fc.integer({ min: 1, max: 60 }) });
  fc.assert(
    fc.property(anyState, size, fc.boolean(), fc.nat(), (state, on, colours, now) => {
      const lines = render(state, { ...on, style: { colours }, now });
      assert.ok(lines.length <= Math.max(1, on.rows - 1));
      for (const line of lines) {
        assert.ok(visibleLength(line) <= on.columns, line);
        const bare = colours ? line.replaceAll(colour, '') : line;
        assert.doesNotMatch(bare, /\p{Cc}/u);
      }
      assert.deepEqual(render(state, { ...on, style: { colours }, now }), lines);
    }),
  );
});
