import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { writeDurably } from '../journal/write-durably.ts';
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

/** In one file, so that no crash leaves the one without the other: it is the old or the new pair, and for its user alone. */
export const writeCertificate = (path: string, { cert, key }: Pick<NodeCertificate, 'cert' | 'key'>): Promise<void> =>
  writeDurably(path, `${cert.trimEnd()}\n${key}`);
