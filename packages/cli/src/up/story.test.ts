import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { annotations } from '@tartan/api';
import { eventLine, lineOf, nodeLine } from './story.ts';
import { createVoice } from './voice.ts';

const plain = createVoice(new PassThrough(), { colours: false });
type Node = Parameters<typeof nodeLine>[1];

const node = (status: string | undefined, agent = 'v0.1.0'): NonNullable<Node> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'mac-1', annotations: { [annotations.agentVersion]: agent } },
  status: { conditions: status === undefined ? [] : [{ type: 'Ready', status }] },
});

const aboutNodes: [string, Node, Node, string | undefined][] = [
  ['comes', undefined, node(undefined), 'joined: there is a Node'],
  ['comes and is Ready', undefined, node('True'), 'joined: its Node is Ready, with agent v0.1.0'],
  ['becomes Ready', node(undefined), node('True'), 'its Node is Ready, with agent v0.1.0'],
  ['stays Ready', node('True'), node('True'), undefined],
  ['is Ready with another agent', node('True'), node('True', 'v0.2.0'), 'its Node is Ready, with agent v0.2.0'],
  ['is not Ready any more', node('True'), node('Unknown'), 'its Node is not Ready any more'],
  ['is still not Ready', node('False'), node('Unknown'), undefined],
  ['goes', node('True'), undefined, 'its Node is gone'],
];

for (const [what, before, now, line] of aboutNodes) {
  test(`a Node that ${what}: ${line ?? 'no word'}`, () =>
    assert.equal(nodeLine(before, now, plain), line === undefined ? undefined : lineOf('mac-1', line)));
}

const event = (kind: string, count = 1) => ({
  apiVersion: 'v1' as const,
  kind: 'Event' as const,
  metadata: { name: 'e' },
  involvedObject: { kind, name: 'mac-1' },
  type: 'Normal',
  reason: 'Adopted',
  message: 'It holds the Mac x.',
  count,
});

test('what happens to one of ours is told once', () => {
  const machine = 'ScalewayAppleSiliconMachine';
  assert.equal(eventLine(event(machine), plain), `  ${'mac-1'.padEnd(27)}  Adopted  It holds the Mac x.`);
  assert.equal(eventLine(event(machine, 2), plain), undefined);
  assert.equal(eventLine(event('Pod'), plain), undefined);
});

test('the id of a server is cut to what tells it from others', () => {
  assert.equal(lineOf('11111111-2222-3333-4444-555555555555', 'x'), `  ${'11111111…'.padEnd(27)}  x`);
});

test('colours are for those who want them', () => {
  const coloured = createVoice(new PassThrough(), { colours: true });
  assert.equal(coloured.good('x'), '\u001B[32mx\u001B[0m');
  assert.equal(plain.good('x'), 'x');
});
