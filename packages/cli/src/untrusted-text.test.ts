import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { annotations, finalizers, macFleet, machine, macHost, runnerPool } from '@tartan/api';
import { events, nodes, pods, serviceAccounts } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import { eventLine, outcomeText, reportLines, reportRows } from './host/report-text.ts';
import { escapeControls, escapingStream } from './output/terminal-text.ts';
import { commands } from './program.ts';
import { runTartan, serveCluster, startCluster, type TestCluster } from './testing/cluster.ts';
import {
  aCondition,
  aFleet,
  aHost,
  aMachine,
  aNode,
  aPod,
  aRunnerPod,
  aRunnerPool,
  minutesAgo,
} from './testing/objects.ts';
import { createLiveView } from './up/live/live-view.ts';
import { createPlainView } from './up/live/plain-view.ts';

/** Writes to the clipboard, clears the screen, rings, deletes, starts a C1 sequence, and reorders and hides text. */
const hostile = '\u001B]52;c;aGk=\u0007\u001B[2J\u001B[8mA\bB\u007F\u009B31mC\u202ED\u200BE\u2066F';
const dangerous = /[^\P{Cc}\n\t]|[\p{Cf}\p{Zl}\p{Zp}]/u;
const escape = '\u001B';
/** What our own programs write. */
const colours = new RegExp(`${escape}\\[(?:0|1|2|31|32|33)m`, 'g');
const cursor = new RegExp(`${escape}\\[(?:\\d*[AHJK]|\\?(?:25|7)[lh])`, 'g');
const assertSafe = (what: string, printed: string): void => {
  const found = dangerous.exec(printed);
  assert.equal(found, null, `${what} printed ${JSON.stringify(printed.slice(Math.max(0, (found?.index ?? 0) - 30)))}`);
};

describe('untrusted text from a Mac', () => {
  test('is escaped, except our colors, line breaks and tabs', () => {
    assert.equal(escapeControls('\u001B[31mbad\u001B[0m\ta\n'), '\u001B[31mbad\u001B[0m\ta\n');
    assert.equal(escapeControls('\u001B]52;c;x\u0007\u009B\u{E0041}'), '\\u001b]52;c;x\\u0007\\u009b\\udb40\\udc41');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (words) => {
        assertSafe('it', escapeControls(words).replaceAll(colours, ''));
        // A program that parses the JSON gets the original text.
        assert.equal(JSON.parse(escapeControls(JSON.stringify(words))), words);
      }),
    );
  });

  test('is escaped in all output and errors of a command', async () => {
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns: 7 });
    const safe = escapingStream(stream);
    assert.deepEqual([safe.isTTY, safe.columns], [true, 7]);
    safe.write(hostile);
    safe.write(Buffer.from(hostile));
    stream.end();
    assertSafe('the stream', await text(stream));

    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const around = { stdin: new PassThrough(), stdout, stderr, env: {}, signal: new AbortController().signal };
    const program = commands(around, 'tartan', () => {});
    await program.parseAsync(['explain', hostile, '--kubeconfig', `/none/${hostile}`], { from: 'user' });
    stdout.end();
    stderr.end();
    assertSafe('an error', `${await text(stdout)}${await text(stderr)}`);
  });

  test('cannot imitate lines of doctor or prepare-host', () => {
    const look = { colours: false };
    const spoof = `x\n✓ all is well${hostile}`;
    const error = {
      name: 'StepError' as const,
      message: spoof,
      step: 'power',
      failure: 'rejected' as const,
      exitCode: 1,
      signal: undefined,
      tail: spoof,
      advice: '',
    };
    const step = { step: 'power', title: 'power', stamp: 'current' as const };
    const printed = [
      reportLines({ ...step, state: 'different', differences: [spoof] }, look),
      reportLines({ ...step, state: 'could not look', differences: [], error }, look),
      ...reportRows({ ...step, state: 'different', differences: [`${spoof}\tstate`] }),
      ...reportRows({ ...step, state: 'could not look', differences: [], error }),
      eventLine({ kind: 'step finished', ...step, result: 'different', durationMs: 1, differences: [spoof] }, look) ??
        '',
      outcomeText({ kind: 'unreadable host', cause: spoof }),
      outcomeText({ kind: 'step failed', error }),
      outcomeText({ kind: 'locked', by: spoof, since: minutesAgo(1) }),
      outcomeText({ kind: 'unsuitable host', objections: [{ what: spoof, advice: '' }] }),
      outcomeText({ kind: 'connection lost', during: 'power', cause: spoof }),
    ];
    for (const each of printed) {
      assertSafe('it', each);
      assert.ok(!/^✓/m.test(each), each);
    }
    assert.equal(reportRows({ ...step, state: 'different', differences: ['a\tb\nc'] })[0]?.split('\t').length, 4);
  });

  test('is escaped in the live view of tartan up', async () => {
    for (const create of [createPlainView, createLiveView]) {
      const stream = Object.assign(new PassThrough(), { columns: 80, rows: 20 });
      const view = create({ stdout: escapingStream(stream), style: { colours: false }, clock: manualClock() });
      view.writeLine(`a Pod says ${hostile}`);
      view.step(hostile).done(hostile);
      view.stop();
      stream.end();
      const printed = (await text(stream)).replaceAll(cursor, '');
      assertSafe(create.name, printed);
    }
  });
});

describe('operator commands in a cluster with untrusted text', () => {
  let cluster: TestCluster;
  let served: Awaited<ReturnType<typeof serveCluster>>;
  before(async () => {
    cluster = await startCluster();
    served = await serveCluster(cluster);
    const conditions = (...types: readonly string[]) =>
      types.map((type) => aCondition(type, 'False', 'Because', hostile));
    const mac = await cluster.add(
      machine.resource,
      aMachine('mac-1', { phase: 'Pending', conditions: conditions('Provisioned', 'Bootstrapped', 'Ready') }),
    );
    await cluster.add(
      macHost.resource,
      aHost('h-1', {
        state: 'stranded',
        name: hostile,
        type: hostile,
        osFamily: hostile,
        conditions: conditions('Wiped'),
      }),
    );
    await cluster.add(
      macHost.resource,
      aHost('h-2', { state: 'quarantined', quarantine: { count: 1, reason: hostile, until: minutesAgo(-99) } }),
    );
    await cluster.add(
      macFleet.resource,
      aFleet('macos', {
        stop: { reason: 'PushRejected', machine: 'mac-1', message: hostile, at: minutesAgo(3) },
        conditions: conditions('Ready', 'Stalled', 'Rolling'),
      }),
    );
    const node = aNode('mac-9');
    node.metadata.annotations = { ...node.metadata.annotations, [annotations.agentVersion]: hostile };
    await cluster.add(nodes, node);
    await cluster.add(runnerPool.resource, aRunnerPool('macos', { conditions: conditions('Ready') }));
    const account = { metadata: { namespace: 'default', name: 'default' } };
    await cluster.admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', ...account });
    await cluster.add(
      pods,
      aRunnerPod('macos-runner-1', 'mac-9', { annotations: { [annotations.runnerID]: hostile } }),
    );
    await cluster.add(
      pods,
      aPod('stuck', 'mac-gone', { metadata: { finalizers: [finalizers.vmCleanup] }, status: { reason: hostile } }),
    );
    await cluster.admin.create(events, {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e', namespace: 'default' },
      involvedObject: {
        kind: 'ScalewayAppleSiliconMachine',
        name: 'mac-1',
        namespace: 'default',
        uid: mac.metadata.uid,
      },
      type: 'Warning',
      reason: 'BootstrapFailed',
      message: hostile,
      lastTimestamp: minutesAgo(1),
    });
  });
  after(async () => {
    await served.stop();
    cluster.stop();
  });

  const cases: readonly string[][] = [
    ['fleet'],
    ['explain', 'mac-1'],
    ['explain', 'h-1'],
    ['explain', 'h-2'],
    ['explain', 'mac-9'],
    ['explain', 'fleet/macos'],
    ['explain', 'rpool/macos'],
    ['explain', 'stuck'],
    ['pool'],
    ['orphans'],
    ['runners', 'macos'],
    ['roll', 'status'],
    ['version'],
    ['pods', 'unstick'],
  ];
  for (const args of cases)
    for (const more of [[], ['-o', 'json']])
      test(`tartan ${[...args, ...more].join(' ')}`, async () => {
        const { out, err } = await served.run([...args, ...more]);
        assert.ok(out.length > 0, err);
        assertSafe('it', `${out}${err}`);
        if (more.length > 0) JSON.parse(out);
      });

  test('is escaped in an unknown name', async () => {
    const { out, err } = await served.run(['explain', hostile]);
    assert.ok(`${out}${err}`.length > 0);
    assertSafe('it', `${out}${err}`);
    const wrong = await runTartan([hostile], {});
    assertSafe('it', wrong.err);
  });
});
