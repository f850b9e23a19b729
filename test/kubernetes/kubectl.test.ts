import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { chapters } from './kubectl/chapters/index.ts';
import { play } from './kubectl/play.ts';
import { openStages, type Stages } from './kubectl/stages.ts';

describe('kubectl sees no difference between the embedded server and the real one', () => {
  let stages: Stages | undefined;

  before(async () => {
    stages = await openStages();
  });
  after(() => stages?.stop());

  for (const chapter of chapters) {
    test(chapter.title, async (t) => {
      if (stages === undefined) throw new Error('the servers were not started');
      const [real, embedded] = await Promise.all([play(chapter, stages.real), play(chapter, stages.embedded)]);
      for (const [index, expected] of real.entries()) {
        await t.test(expected.command, () => assert.deepEqual(embedded[index], expected));
      }
    });
  }
});
