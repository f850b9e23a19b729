import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { transitions } from './states.ts';

test('docs/leader-election.md draws the states and arrows of the code', async () => {
  const page = await readFile(new URL('../../../../docs/leader-election.md', import.meta.url), 'utf8');
  const drawn = [...page.matchAll(/^ +(\S+) --> ([^\s:]+)/gm)].map(([, from, to]) => `${from} --> ${to}`);
  const arrows = Object.entries(transitions).flatMap(([from, next]) => [
    ...next.map((to) => `${from} --> ${to}`),
    ...(next.length === 0 ? [`${from} --> [*]`] : []),
  ]);
  assert.deepEqual(drawn.sort(), ['[*] --> following', ...arrows].sort());
});
