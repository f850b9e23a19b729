import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { startMac } from '../start-mac.ts';
import { allowSudo, startTestMac } from '../testing/test-mac.ts';
import { createOwners } from './owners.ts';

const owner = "stat -f '%Su:%Sg'";

test('a file that reuses the inode of a deleted one does not inherit its owner', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-owners-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const owners = createOwners(join(folder, 'owners.json'), () => ({ user: 'm1', group: 'staff' }));
  const make = (name: string): string => {
    writeFileSync(join(folder, name), '');
    return join(folder, name);
  };
  const given = Array.from({ length: 20 }, (_, index) => make(`given-${index}`));
  for (const file of given) owners.change(file, { user: 'root' });
  assert.deepEqual(new Set(given.map((file) => owners.ownerOf(file).user)), new Set(['root']));
  const born = statSync(given.at(-1) ?? '').birthtimeMs;
  for (const file of given) rmSync(file);
  // Two files with the same birth time could not be told apart.
  while (statSync(make('tick')).birthtimeMs === born) rmSync(join(folder, 'tick'));
  const later = Array.from({ length: 20 }, (_, index) => make(`later-${index}`));
  assert.deepEqual(new Set(later.map((file) => owners.ownerOf(file).user)), new Set(['m1']));
});

describe('the owner of a file', () => {
  test('is root except for homes and temporary files of users', async (t) => {
    const mac = await startTestMac(t);
    const { stdout } = await mac.run(
      `touch f "$TARTAN_ROOT/tmp/f" && cd "$TARTAN_ROOT" && ${owner} Users/m1/f tmp/f etc Library/LaunchDaemons dev/console`,
    );
    assert.equal(stdout, 'm1:staff\nm1:wheel\nroot:wheel\nroot:wheel\nroot:wheel\n');
  });

  test('is kept by a rename, and not inherited by the next file of that name', async (t) => {
    const mac = await startTestMac(t);
    await allowSudo(mac);
    const { stdout, stderr } = await mac.run(
      `touch f && sudo -n chown root:wheel f && mv f g && ${owner} g && touch f && ${owner} f && rm g && touch g && ${owner} g`,
    );
    assert.equal(stdout, 'root:wheel\nm1:staff\nm1:staff\n', stderr);
  });

  test('is changed below a folder by -R', async (t) => {
    const mac = await startTestMac(t);
    await allowSudo(mac);
    const { stdout } = await mac.run(
      `mkdir -p d/e && touch d/e/f && sudo -n chown -R root d && sudo -n chgrp wheel d/e/f && ${owner} d d/e d/e/f`,
    );
    assert.equal(stdout, 'root:staff\nroot:staff\nroot:wheel\n');
  });

  test('is kept over a stop and a start', async (t) => {
    const mac = await startTestMac(t);
    await allowSudo(mac);
    await mac.run('touch f && sudo -n chown root f');
    await mac.stop();
    const again = await startMac({ folder: dirname(mac.root) });
    try {
      assert.equal((await again.run('stat -f %Su f')).stdout, 'root\n');
    } finally {
      await again.stop();
    }
  });
});
