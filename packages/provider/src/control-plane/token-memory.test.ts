import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderKubeconfig, targetIn } from './kubeconfig.ts';
import { readMemory, writeMemory } from './token-memory.ts';

const target = { server: 'https://10.0.0.1:443', caData: 'Q0E=' };
const kubeconfig = renderKubeconfig(target, 'token-1');
const memory = { mintedAt: 0, expiresAt: 3_600_000, account: 'uid' };

test('what is remembered is read back, of that kubeconfig alone', () => {
  const annotation = writeMemory(memory, kubeconfig);
  assert.deepEqual(readMemory(annotation, kubeconfig), memory);
  assert.equal(readMemory(annotation, renderKubeconfig(target, 'token-2')), undefined);
  assert.ok(!annotation.includes('token-1'));
});

test('what cannot be read is no memory', () => {
  const good: unknown = JSON.parse(writeMemory(memory, kubeconfig));
  const bad = [undefined, '', '{', 'null', '[]', '{}', JSON.stringify({ ...Object(good), expires: 'never' })];
  for (const annotation of bad) assert.equal(readMemory(annotation, kubeconfig), undefined, String(annotation));
});

test('the target of a kubeconfig is read back, and of nothing else', () => {
  assert.deepEqual(targetIn(kubeconfig), target);
  for (const text of ['', 'null', '{}', '{"clusters":[]}', 'apiVersion: v1\nkind: Config\n', '{"clusters":[{}]}'])
    assert.equal(targetIn(text), undefined, text);
});
