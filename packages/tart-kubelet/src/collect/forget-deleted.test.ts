import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { goldenName } from '../images/golden-name.ts';
import { createHolds } from '../images/holds.ts';
import { createImageRecords } from '../images/image-records.ts';
import { createLocalImages } from '../images/local-images.ts';
import { pinnedText } from '../images/reference.ts';
import { forgetDeleted } from './forget-deleted.ts';

const image = (letter: string) => ({ repository: 'ghcr.io/a/b', digest: `sha256:${letter.repeat(64)}` });

describe('what was made and is not here any more', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-deleted-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const stage = () => {
    const home = join(folder, 'home');
    return {
      records: createImageRecords({ folder: join(folder, 'records'), mark: async () => {} }),
      local: createLocalImages(home),
      holds: createHolds(),
      putImage: (digest: string) => mkdirSync(join(home, 'cache/OCIs/ghcr.io/a/b', digest), { recursive: true }),
      putBase: (name: string) => {
        mkdirSync(join(home, 'vms', name), { recursive: true });
        for (const file of ['config.json', 'disk.img', 'nvram.bin']) writeFileSync(join(home, 'vms', name, file), '');
      },
    };
  };

  test('is forgotten, so that what a person fetches later is theirs; what is here, or held, is not', async () => {
    const { holds, local, putBase, putImage, records } = stage();
    const [here, gone, held] = [image('a'), image('b'), image('c')];
    for (const one of [here, gone, held]) {
      await records.fetched('ghcr.io/a/b:1', one);
      await records.making(goldenName(one), one);
      await records.made(goldenName(one));
    }
    putImage(here.digest);
    putBase(goldenName(here));
    await holds.hold(pinnedText(held));
    await holds.hold(goldenName(held));
    const forgotten = await forgetDeleted({ records, local, holds });
    assert.deepEqual([...forgotten].toSorted(), [goldenName(gone), pinnedText(gone)].toSorted());
    assert.equal(await records.isMade(pinnedText(gone)), false);
    for (const one of [here, held])
      assert.deepEqual([await records.isMade(pinnedText(one)), await records.isMade(goldenName(one))], [true, true]);
    assert.deepEqual(await forgetDeleted({ records, local, holds }), []);
  });

  test('what is only being made or fetched stays', async () => {
    const { holds, local, records } = stage();
    await records.making('base', image('a'));
    await records.fetching('ghcr.io/a/b:1', undefined);
    writeFileSync(join(folder, 'records', 'torn.json'), '{');
    assert.deepEqual(await forgetDeleted({ records, local, holds }), []);
    assert.equal(await records.isBeingMade('base'), true);
  });
});
