import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { chart } from './helm.ts';
import type { Values } from './value-sets.ts';

/** The YAML block of a page with this top-level key, and this value if given: values, or an object. */
export const yamlIn = async (page: string, key: string, value?: string): Promise<Values> => {
  const text = await readFile(join(chart, '../../docs', page), 'utf8');
  const blocks = [...text.matchAll(/^( *)```yaml\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', block = '']) =>
    block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  const found = blocks
    .map((block): Values => parse(block))
    .find((tree) => Object.hasOwn(Object(tree), key) && (value === undefined || tree[key] === value));
  assert.ok(found, `${page} shows nothing with ${key} ${value ?? ''}`);
  return found;
};
