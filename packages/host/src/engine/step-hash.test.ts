import assert from 'node:assert/strict';
import crypto, { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { HostSpec } from '../host-spec.ts';
import { hostname } from '../steps/hostname.ts';
import type { Step } from '../steps/step.ts';
import { exampleArtifact, exampleSpec } from '../testing/example-spec.ts';
import { stepProgram, stripComments } from './compose-script.ts';
import { stepHash, summaryHash, summaryOf, wantedStamps } from './step-hash.ts';

describe('the hash of a step', () => {
  let folder: string;
  let spec: HostSpec;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-hash-'));
    spec = exampleSpec(folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  const fake = (overrides: Partial<Step>): Step => ({
    name: 'fake',
    title: 'do nothing',
    deadline: 1000,
    script: 'check() { :; }\n',
    intent: ({ nodeName, tart }) => ({ nodeName, tart, list: [{ b: 1, a: 2 }] }),
    environment: () => ({}),
    ...overrides,
  });

  test('is the same for the same intent, whatever the order of its keys', () => {
    const turned = fake({ intent: ({ nodeName, tart }) => ({ list: [{ a: 2, b: 1 }], tart, nodeName }) });
    assert.equal(stepHash(fake({}), spec), stepHash(turned, spec));
    assert.match(stepHash(hostname, spec), /^[0-9a-f]{64}$/);
  });

  test('changes with the intent, the variables, the script and the name', () => {
    const hashes = [
      fake({}),
      fake({ intent: () => undefined }),
      fake({ intent: ({ nodeName, tart }) => ({ nodeName, tart, list: [{ b: 1, a: 3 }] }) }),
      fake({ environment: () => ({ RENDERED: 'otherwise' }) }),
      fake({ script: 'check() { differs it; }\n' }),
      fake({ name: 'another' }),
    ].map((step) => stepHash(step, spec));
    assert.equal(new Set(hashes).size, hashes.length);
  });

  test('does not change with comments, nor with the name and local path of an artifact', () => {
    const elsewhere = { ...spec.tart, name: 'the same', file: '/elsewhere', size: 1 };
    const moved: HostSpec = { ...spec, tart: elsewhere };
    assert.equal(stepHash(fake({}), spec), stepHash(fake({}), moved));
    assert.equal(stepHash(fake({}), spec), stepHash(fake({ script: '# why\n\ncheck() { :; }\n' }), spec));
    const other: HostSpec = { ...spec, tart: exampleArtifact(folder, 'tart', 'other bytes') };
    assert.notEqual(stepHash(fake({}), spec), stepHash(fake({}), other));
  });

  test('changes with the content of the agent for the two steps that install it, and for no other', () => {
    const release = exampleArtifact(folder, spec.agent.release.name, 'other bytes');
    const [before, after] = [wantedStamps(spec), wantedStamps({ ...spec, agent: { ...spec.agent, release } })];
    const changed = Object.keys(before).filter((name) => before[name] !== after[name]);
    assert.deepEqual(changed, ['agent-release', 'agent-job']);
  });

  test('does not change between versions: otherwise every step of every fleet would run again', () => {
    const hashOf = (...parts: string[]): string =>
      createHash('sha256')
        .update(parts.map((part) => `${Buffer.byteLength(part)}\0${part}`).join(''))
        .digest('hex');
    const program = stripComments(stepProgram('check() { :; }\n'));
    const absent = fake({ intent: () => undefined });
    assert.equal(stepHash(absent, spec), hashOf('fake', 'absent', '', program));
    const present = fake({ intent: () => ({ c: null, b: [{ y: 2, x: 1 }], a: 'ä' }), environment: () => ({ A: '1' }) });
    assert.equal(
      stepHash(present, spec),
      hashOf('fake', '{"a":"ä","b":[{"x":1,"y":2}],"c":null}', '{"A":"1"}', program),
    );
    const summary = createHash('sha256').update('a\t1\nb\t2\n').digest('hex');
    assert.equal(summaryOf({ b: '2', a: '1' }), summary.slice(0, 16));
  });

  test('is computed once for all hosts that the step is the same for', (t) => {
    const { mock } = t.mock.method(crypto, 'createHash');
    syncBuiltinESMExports();
    t.after(() => {
      mock.restore();
      syncBuiltinESMExports();
    });
    const other: HostSpec = { ...spec, nodeName: 'another-mac' };
    const shared = fake({ intent: () => ({ setting: 'the same for all hosts' }) });
    assert.equal(stepHash(shared, spec), stepHash(shared, other));
    assert.equal(mock.callCount(), 1);
    const own = fake({ intent: ({ nodeName }) => ({ nodeName }) });
    assert.notEqual(stepHash(own, spec), stepHash(own, other));
    assert.equal(mock.callCount(), 3);
  });

  test('is an error for an intent that is not plain data', () => {
    assert.throws(() => stepHash(fake({ intent: () => ({ when: new Date(0) }) }), spec), /an intent is plain data/);
    assert.throws(() => stepHash(fake({ intent: () => ({ how: () => 1 }) }), spec), /an intent is plain data/);
  });

  test('the summary of all hashes does not depend on their order', () => {
    assert.equal(summaryOf({ a: '1', b: '2' }), summaryOf({ b: '2', a: '1' }));
    assert.notEqual(summaryOf({ a: '1', b: '2' }), summaryOf({ a: '2', b: '1' }));
    assert.notEqual(summaryOf({ a: '1', b: '2' }), summaryOf({ a: '1' }));
    assert.equal(summaryHash(spec), summaryOf(wantedStamps(spec)));
    assert.match(summaryHash(spec), /^[0-9a-f]{16}$/);
  });
});
