import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { below } from './below.ts';

describe('what stands after a heading', () => {
  const table: [string, string, string][] = [
    ['a line stands beside it', 'broken', ' broken'],
    ['a point of a list stands below it', '* A: broken', '\n  * A: broken'],
    ['so do several', '* A: x\n* B: y', '\n  * A: x\n  * B: y'],
    ['lines become points', 'a\nb', '\n  * a\n  * b'],
    ['points become points of the lines', 'a\n* b', '\n  * a\n    * b'],
  ];
  for (const [name, text, expected] of table) it(name, () => assert.equal(below(text), expected));
});
