import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { paginate } from './handler.ts';

const items = Array.from({ length: 250 }, (_, index) => index);
const asked = (query: string) => {
  const request = { method: 'GET', path: '/x', query: new URLSearchParams(query), headers: {}, body: '' };
  const { body, headers } = paginate(request, 'http://y', 'items', items, (item) => item);
  const shown = (body as { items: number[] }).items;
  return [
    shown[0],
    shown.length,
    [...(headers?.['link'] ?? '').matchAll(/page=(\d+)>; rel="(\w+)"/g)].map(([, n, rel]) => `${rel} ${n}`).join(),
  ];
};

describe('pagination', () => {
  const cases: [query: string, first: number | undefined, length: number, links: string][] = [
    ['', 0, 30, 'next 2,last 9'],
    ['per_page=100', 0, 100, 'next 2,last 3'],
    ['per_page=1000', 0, 100, 'next 2,last 3'],
    ['per_page=100&page=2', 100, 100, 'prev 1,next 3,last 3,first 1'],
    ['per_page=100&page=3', 200, 50, 'prev 2,first 1'],
    ['per_page=100&page=9', undefined, 0, 'prev 3,first 1'],
    ['per_page=0&page=-1', 0, 30, 'next 2,last 9'],
  ];
  for (const [query, ...expected] of cases) {
    test(`with the query "${query}"`, () => assert.deepEqual(asked(query), expected));
  }
});
