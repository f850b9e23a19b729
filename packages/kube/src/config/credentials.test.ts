import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { manualClock } from '../clock/manual-clock.ts';
import { loadConfig } from './load-config.ts';
import {
  fakeFileSystem,
  issueCertificates,
  type IssuedCertificate,
  kubeconfig,
} from './testing/kubeconfig-fixtures.ts';

describe('files that change', () => {
  let first: IssuedCertificate;
  let second: IssuedCertificate;
  before(async () => {
    ({ first, second } = await issueCertificates());
  });

  describe('a token file', () => {
    const setup = async () => {
      const clock = manualClock();
      const { files, reads, readFile } = fakeFileSystem({
        '/k/config': kubeconfig({ user: { tokenFile: '/t' } }),
        '/t': 'one',
      });
      const config = await loadConfig({ env: { KUBECONFIG: '/k/config' }, clock, readFile });
      const token = async () => (await config.credentials()).headers?.['authorization'];
      return { clock, files, reads, config, token };
    };

    it('is read again after a minute, not before', async () => {
      const { clock, files, token } = await setup();
      files['/t'] = 'two';
      clock.advance(59_999);
      assert.equal(await token(), 'Bearer one');
      clock.advance(1);
      assert.equal(await token(), 'Bearer two');
    });

    it('is read again at once when the server rejected the token', async () => {
      const { files, config, token } = await setup();
      assert.equal(await token(), 'Bearer one');
      files['/t'] = 'two';
      config.refresh();
      assert.equal(await token(), 'Bearer two');
    });

    it('is not read again for a token that was replaced already', async () => {
      const { files, reads, config } = await setup();
      const old = await config.credentials();
      files['/t'] = 'two';
      config.refresh(old);
      const now = await config.credentials();
      const before = reads.length;
      config.refresh(old);
      assert.equal(await config.credentials(), now);
      assert.equal(reads.length, before);
    });

    it('is read once for concurrent requests', async () => {
      const { clock, reads, token } = await setup();
      clock.advance(60_000);
      const before = reads.length;
      await Promise.all([token(), token(), token()]);
      assert.equal(reads.length, before + 1);
    });

    it('returns the same object while nothing has changed', async () => {
      const { clock, config } = await setup();
      const credentials = await config.credentials();
      clock.advance(120_000);
      assert.equal(await config.credentials(), credentials);
    });

    it('missing for a moment keeps the last token in use', async () => {
      const { clock, files, token } = await setup();
      files['/t'] = { code: 'ENOENT' };
      clock.advance(60_000);
      assert.equal(await token(), 'Bearer one');
      files['/t'] = 'two';
      assert.equal(await token(), 'Bearer two');
    });

    it('missing after the server rejected the last token is an error', async () => {
      const { files, config } = await setup();
      files['/t'] = { code: 'ENOENT' };
      config.refresh();
      await assert.rejects(config.credentials(), /users\[0\]\.user\.tokenFile: no such file: \/t/);
    });
  });

  describe('a certificate in files', () => {
    const setup = async () => {
      const clock = manualClock();
      const user = { 'client-certificate': '/cert', 'client-key': '/key' };
      const { files, readFile } = fakeFileSystem({
        '/k/config': kubeconfig({ user }),
        '/cert': first.certificate,
        '/key': first.key,
      });
      const config = await loadConfig({ env: { KUBECONFIG: '/k/config' }, clock, readFile });
      return { clock, files, config };
    };

    it('is reloaded after a renewal', async () => {
      const { clock, files, config } = await setup();
      files['/cert'] = second.certificate;
      files['/key'] = second.key;
      assert.equal((await config.credentials()).certificate?.cert, first.certificate);
      clock.advance(60_000);
      assert.deepEqual(await config.credentials(), { certificate: { cert: second.certificate, key: second.key } });
    });

    it('stays in use while only one file of the new pair has been written', async () => {
      const { clock, files, config } = await setup();
      const old = await config.credentials();
      files['/cert'] = second.certificate;
      clock.advance(60_000);
      assert.equal(await config.credentials(), old);
      files['/key'] = second.key;
      assert.equal((await config.credentials()).certificate?.key, second.key);
    });
  });
});
