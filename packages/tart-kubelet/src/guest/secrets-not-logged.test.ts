import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { dispatchAudience } from '@tartan/api';
import { createRecordingLogger } from '../identity/testing/recording-logger.ts';
import { mount, token, withGuestHarness } from './testing/harness.ts';

const password = 'correct-horse-battery-staple';
/** Every JSON Web Token begins with `eyJ`. */
const forms = [password, Buffer.from(password).toString('base64').replaceAll('=', ''), 'eyJ'];
const never = new AbortController().signal;

describe('a secret of a guest', () => {
  it('is in its file, and in no error, message or log line', () =>
    withGuestHarness(async (harness) => {
      const { folder, guests, prepare, vm } = harness;
      const { log, lines } = createRecordingLogger();
      const tell = async (outcome: Promise<unknown>): Promise<void> =>
        log.error('What came of it', { outcome: await outcome.catch((error: unknown) => error) });
      await harness.secret('hidden', { KEY: password, ZERO: `${password}\0` });
      const from = (key: string) => [{ name: key, valueFrom: { secretKeyRef: { name: 'hidden', key } } }];
      const pod = await harness.pod((spec) => {
        mount(spec, 'v', token(dispatchAudience, { path: 'd/token' }), { secret: { name: 'hidden' } });
        Object.assign(spec.containers[0] ?? {}, { env: from('KEY') });
      });

      await tell(prepare(pod));
      assert.equal(await harness.read('volumes/v/KEY'), password);
      assert.equal(await harness.read('env/tuist.env'), `KEY=${password}\n`);
      assert.match(await harness.read('env/sa_token'), /^eyJ/);

      harness.clock.advance(3_600_000);
      await guests.remove(vm);
      await tell(guests.renewTokens(pod, vm, never));
      mkdirSync(join(folder, vm, 'volumes/v/d/token'), { recursive: true });
      await tell(guests.renewTokens(pod, vm, never));
      // A file blocks the folder after everything has been read.
      harness.intercept = () => writeFileSync(join(folder, vm), '');
      await tell(prepare(pod));
      harness.intercept = () => {};
      Object.assign(pod.spec?.containers[0] ?? {}, { env: from('ZERO') });
      await tell(prepare(pod));

      for (const [at, expected] of ['shares', 'ENOENT', 'EISDIR', 'ENOTDIR|EEXIST', 'zero byte'].entries()) {
        const line = lines[at] ?? '';
        assert.match(line, new RegExp(expected));
        for (const form of forms) assert.ok(!line.includes(form), line);
      }
    }));
});
