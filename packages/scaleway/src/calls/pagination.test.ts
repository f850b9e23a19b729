import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { failureOf } from '../testing/test-pool.ts';
import { listAllPages, type Page } from './pagination.ts';

interface Item {
  readonly id: string;
}
const items = (from: number, to: number): Item[] =>
  Array.from({ length: to - from }, (_, at) => ({ id: `${from + at}` }));

/** Serves pages, and counts them. */
const book = (...pages: Page<Item>[]) => {
  const asked: number[] = [];
  const readPage = (page: number): Promise<Page<Item>> => {
    asked.push(page);
    return Promise.resolve(pages[asked.length - 1] ?? { items: [], total: pages.at(-1)?.total });
  };
  return { asked, readPage };
};

test('all pages are read', async () => {
  const table: [what: string, pages: Page<Item>[], asked: number[], count: number][] = [
    ['an empty list', [{ items: [], total: 0 }], [1], 0],
    ['one page', [{ items: items(0, 7), total: 7 }], [1], 7],
    ['a full page is no reason to ask for another', [{ items: items(0, 100), total: 100 }], [1], 100],
    [
      'two',
      [
        { items: items(0, 100), total: 150 },
        { items: items(100, 150), total: 150 },
      ],
      [1, 2],
      150,
    ],
    [
      'pages smaller than asked for',
      [
        { items: items(0, 50), total: 70 },
        { items: items(50, 70), total: 70 },
      ],
      [1, 2],
      70,
    ],
    ['no total, a short page', [{ items: items(0, 7), total: undefined }], [1], 7],
    [
      'no total, two pages',
      [
        { items: items(0, 100), total: null },
        { items: items(100, 101), total: null },
      ],
      [1, 2],
      101,
    ],
    ['no total, a full last page', [{ items: items(0, 100), total: undefined }], [1, 2], 100],
  ];
  for (const [what, pages, asked, count] of table) {
    const one = book(...pages);
    const all = await listAllPages('list', one.readPage);
    assert.deepEqual(one.asked, asked, what);
    assert.equal(all.length, count, what);
  }
});

test('a list that changes while it is read is read again', async () => {
  const gone = book(
    { items: items(0, 100), total: 150 },
    // One of the first hundred is gone: number 100 moved to the first page, which is already read.
    { items: items(101, 150), total: 149 },
    { items: items(1, 101), total: 149 },
    { items: items(101, 150), total: 149 },
  );
  const all = await listAllPages('list', gone.readPage);
  assert.deepEqual(gone.asked, [1, 2, 1, 2]);
  assert.deepEqual(
    all.map(({ id }) => id),
    items(1, 150).map(({ id }) => id),
  );
});

test("inconsistent pages reject with 'garbled', never with a short list", async () => {
  const endless = (page: number): Promise<Page<Item>> =>
    Promise.resolve({ items: items(page * 100, page * 100 + 100), total: 1_000_000 });
  const table: [what: string, readPage: (page: number) => Promise<Page<Item>>, mostAsked?: number][] = [
    ['the same page for ever', () => Promise.resolve({ items: items(0, 100), total: 300 }), 6],
    ['the same page for ever, no total', () => Promise.resolve({ items: items(0, 100), total: undefined }), 6],
    ['less than promised', (page) => Promise.resolve({ items: page === 1 ? items(0, 5) : [], total: 6 })],
    ['nothing of what is promised', () => Promise.resolve({ items: [], total: 6 })],
    ['more than promised', () => Promise.resolve({ items: items(0, 5), total: 4 })],
    ['new ones for ever', endless],
    ['new ones for ever, no total', async (page) => ({ ...(await endless(page)), total: undefined })],
  ];
  for (const [what, readPage, mostAsked = 200] of table) {
    let asked = 0;
    const error = await failureOf(
      listAllPages('list', (page) => {
        asked += 1;
        return readPage(page);
      }),
    );
    assert.equal(error.kind, 'garbled', what);
    assert(asked <= mostAsked, what);
  }
});

test('for any pages, reading ends, and a returned list is complete', async () => {
  const page = fc.record({
    items: fc.array(fc.record({ id: fc.stringMatching(/^[a-f]$/) }), { maxLength: 6 }),
    total: fc.option(fc.nat(8), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(page, { maxLength: 6 }), async (pages) => {
      const one = book(...pages);
      try {
        const all = await listAllPages('list', one.readPage);
        assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
        const total = pages[one.asked.length - 1]?.total;
        if (total !== undefined) assert.equal(all.length, total);
      } catch (error) {
        assert.equal((error as { kind?: string }).kind, 'garbled');
      }
    }),
  );
});
