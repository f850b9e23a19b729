import { randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type NodeCertificate, nodeCertificateIn } from './node-certificate.ts';

/** Beside the kubeconfig, which is the host steps' to write: so each file has one writer, and neither undoes the other's work. */
export const certificateFileOf = (kubeconfig: string): string => join(dirname(kubeconfig), 'node-certificate.pem');

/** A file that is not there, or that holds no certificate with its key, is no certificate. */
export const readCertificate = async (path: string): Promise<NodeCertificate | undefined> => {
  try {
    return nodeCertificateIn(await readFile(path, 'utf8'));
  } catch {
    return undefined;
  }
};

/**
 * Certificate and key in one file, so that no crash leaves the one without the other; by rename, so that it is the old or the new
 * pair; flushed before that, or a power cut could leave neither.
 */
export const writeCertificate = async (path: string, { cert, key }: NodeCertificate): Promise<void> => {
  const fresh = `${path}.${randomUUID()}`;
  try {
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(`${cert}${key}`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
};
