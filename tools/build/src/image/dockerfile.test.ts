import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { checkout } from '../bundle.ts';
import { type ImageFile, imageFiles, imageUser, nodeFlags } from './layout.ts';

const dockerfile = readFileSync(join(checkout, 'image/Dockerfile'), 'utf8')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll('\\\n', ' ');
const [, , last = ''] = dockerfile.split(/^FROM /m);
const instructions = (name: string, text: string): string[] =>
  [...text.matchAll(new RegExp(`^${name} +(.+)$`, 'gm'))].map(([, rest = '']) => rest.trim());

/** Its path in the build stage. */
const sourceOf = (file: ImageFile): string => {
  if ('artifact' in file) return `/image${file.path}`;
  return file.from === 'node' ? '/image/node' : `/src/dist/${file.from}`;
};

describe('the Dockerfile', () => {
  test('copies exactly the files of the layout, and the one library that its base lacks', () => {
    assert.deepEqual(
      instructions('COPY', last).sort(),
      [
        '--from=build /image/libatomic.so.1 /usr/lib/libatomic.so.1',
        ...imageFiles.map((file) => `--from=build ${sourceOf(file)} ${file.path}`),
      ].sort(),
    );
  });

  test('runs the manager as an unprivileged user', () => {
    assert.deepEqual(instructions('USER', last), [`${imageUser}:${imageUser}`]);
    const [entrypoint = ''] = instructions('ENTRYPOINT', last);
    assert.deepEqual(JSON.parse(entrypoint), ['/usr/local/bin/node', ...nodeFlags, '/opt/tartan/manager.mjs']);
    assert.deepEqual(instructions('RUN', last), [], 'there is no shell in it');
  });

  test('pins its base images by digest', () => {
    const bases = instructions('FROM', dockerfile);
    assert.equal(bases.length, 2);
    for (const base of bases) assert.match(base, /^[^ :@]+:[\w.-]+@sha256:[0-9a-f]{64}(?: AS \w+)?$/);
  });

  test('fetches the artifacts of the lock file, and verifies them', () => {
    const [fetching = ''] = instructions('RUN', dockerfile).filter((line) => line.includes('artifacts'));
    assert.match(
      fetching,
      /artifacts fetch --folder \/artifacts +&& .*artifacts verify --folder \/artifacts +&& cp -R \/artifacts \/image\/opt$/,
    );
  });

  test('gets every workspace to build from, and nothing that was built or installed locally', () => {
    const lines = readFileSync(join(checkout, '.dockerignore'), 'utf8').split('\n');
    const { workspaces } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { workspaces: string[] };
    const wanted = ['package.json', 'package-lock.json', 'image/artifacts.lock'];
    for (const path of [...wanted, ...workspaces.map((each) => each.replace('/*', ''))])
      assert.ok(lines.includes(`!${path}`), path);
    assert.ok(lines.includes('*') && lines.includes('**/node_modules') && lines.includes('**/dist'));
  });
});
