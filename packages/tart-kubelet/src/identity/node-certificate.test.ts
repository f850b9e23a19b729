import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { createCertificateRequest } from '../certificates/x509.ts';
import {
  certificatePath,
  type NodeCertificate,
  parseNodeCertificate,
  readCertificate,
  writeCertificate,
} from './node-certificate.ts';

describe('the certificate on the disk', () => {
  let folder = '';
  let one: NodeCertificate;
  let other: NodeCertificate;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'certificate-'));
    const kubernetes = await createKubernetes({ controllers: false });
    const issue = async (name: string): Promise<NodeCertificate> => {
      const { key, request } = createCertificateRequest({ nodeName: name });
      const cert = await kubernetes.identity.sign(request, ['client auth', 'digital signature'], 3600);
      return parseNodeCertificate(`${cert}\n${key}`) ?? assert.fail();
    };
    [one, other] = [await issue('mac-1'), await issue('mac-2')];
    kubernetes.stop();
  });
  after(() => rm(folder, { recursive: true }));

  test('is stored beside the kubeconfig with mode 0600, and read back unchanged', async () => {
    const path = certificatePath(join(folder, 'kubeconfig'));
    await writeCertificate(path, one);
    assert.deepEqual(await readCertificate(path), one);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    await writeCertificate(path, other);
    assert.deepEqual(await readCertificate(path), other);
    assert.deepEqual(await readdir(folder), ['node-certificate.pem']);
  });

  test('keeps the old file when a write fails, and leaves no other file', async () => {
    const path = join(folder, 'a-folder');
    await writeFile(path, '');
    await assert.rejects(writeCertificate(join(path, 'x'), one));
    assert.equal(await readFile(path, 'utf8'), '');
    // A non-empty folder makes the rename fail.
    const inTheWay = join(folder, 'in-the-way');
    await mkdir(join(inTheWay, 'x'), { recursive: true });
    const before = await readdir(folder);
    await assert.rejects(writeCertificate(inTheWay, one));
    assert.deepEqual(await readdir(folder), before);
  });

  test('ignores a file without a certificate and its own key', async () => {
    const path = join(folder, 'broken.pem');
    for (const text of ['', 'x', one.cert, one.key, `${one.cert}${other.key}`, `${one.cert}${one.key}${other.key}`]) {
      await writeFile(path, text);
      assert.equal(await readCertificate(path), undefined);
    }
    assert.equal(await readCertificate(join(folder, 'nowhere')), undefined);
  });

  test('has its user and its validity period', () => {
    assert.equal(one.user, 'system:node:mac-1');
    assert.ok(one.notAfter > one.notBefore);
  });
});
