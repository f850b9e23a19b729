import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';

const root = new URL('../../../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');

interface Row {
  readonly number: string;
  /** Undefined: not the agent's. */
  readonly file: string | undefined;
  readonly test: string;
}

const rows: readonly Row[] = [
  ...read('docs/agent-incidents.md').matchAll(/^\| (G\d+|INC-\d+) \| (.+?) \| (.+) \|$/gm),
].map(([, number = '', where = '', test = '']) => ({ number, file: /^`(.+)`$/.exec(where)?.[1], test }));

describe('the table of incidents', () => {
  it('contains every id', () => {
    const all = [
      ...Array.from({ length: 29 }, (_none, index) => `G${index + 1}`),
      ...Array.from({ length: 44 }, (_none, index) => `INC-${String(index + 1).padStart(2, '0')}`),
    ];
    assert.deepEqual([...new Set(rows.map(({ number }) => number))], all);
    // Numbers of the original's defects are all ours.
    assert.deepEqual(
      rows.filter(({ file, number }) => file === undefined && number.startsWith('G')),
      [],
    );
  });

  it('names existing tests that contain the id', () => {
    const wrong = rows.filter(
      ({ number, file, test }) =>
        file !== undefined && !(new RegExp(`\\(.*\\b${number}\\b.*\\)$`).test(test) && read(file).includes(test)),
    );
    assert.deepEqual(wrong, []);
  });
});
