import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTokenMetadata, parseTarget, parseTokenMetadata, renderKubeconfig } from './kubeconfig.ts';

const target = { server: 'https://10.0.0.1:443', caData: 'Q0E=' };
const kubeconfig = renderKubeconfig(target, 'token-1');
const tokenMetadata = { mintedAt: 0, expiresAt: 3_600_000, account: 'uid' };

test('token metadata is valid only for the kubeconfig that it was written for', () => {
  const annotation = formatTokenMetadata(tokenMetadata, kubeconfig);
  assert.deepEqual(parseTokenMetadata(annotation, kubeconfig), tokenMetadata);
  assert.equal(parseTokenMetadata(annotation, renderKubeconfig(target, 'token-2')), undefined);
  assert.ok(!annotation.includes('token-1'));
});

test('malformed token metadata is ignored', () => {
  const good: unknown = JSON.parse(formatTokenMetadata(tokenMetadata, kubeconfig));
  const bad = [undefined, '', '{', 'null', '[]', '{}', JSON.stringify({ ...Object(good), expires: 'never' })];
  for (const annotation of bad) assert.equal(parseTokenMetadata(annotation, kubeconfig), undefined, String(annotation));
});

test('only a minted kubeconfig has a target', () => {
  assert.deepEqual(parseTarget(kubeconfig), target);
  for (const text of ['', 'null', '{}', '{"clusters":[]}', 'apiVersion: v1\nkind: Config\n', '{"clusters":[{}]}'])
    assert.equal(parseTarget(text), undefined, text);
});
