import { X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { type ClusterConfig, loadConfig, type Transport } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { ClientCertificate } from './ask-for-certificate.ts';

/** The kubeconfig on the Mac's disk, and who it makes the agent. */
export interface Identity {
  /** The file's text, to see when somebody has put another one there. */
  readonly text: string;
  readonly config: ClusterConfig;
  /** `undefined`: it has a join token, and no identity of its own yet. */
  readonly certificate: X509Certificate | undefined;
}

export type TransportFor = (config: ClusterConfig, clock: Clock) => Transport;

export const identityIn = async (text: string, clock: Clock): Promise<Identity> => {
  const config = await loadConfig({ env: {}, clock, kubeconfigPath: 'kubeconfig', readFile: async () => text });
  const { certificate } = await config.credentials();
  return { text, config, certificate: certificate && new X509Certificate(certificate.cert) };
};

/**
 * The agent's own kubeconfig takes the place of the one that it joined with, so that a restart needs no token. In place: the file
 * belongs to the agent's user, and is for nobody else.
 */
export const keepCertificate = (
  path: string,
  nodeName: string,
  { server, ca }: ClusterConfig,
  { cert, key }: ClientCertificate,
): void => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const cluster = { server, ...(ca === undefined ? {} : { 'certificate-authority-data': base64(ca) }) };
  const user = { 'client-certificate-data': base64(cert), 'client-key-data': base64(key) };
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'cluster', cluster }],
    users: [{ name: `system:node:${nodeName}`, user }],
    contexts: [{ name: 'node', context: { cluster: 'cluster', user: `system:node:${nodeName}` } }],
    'current-context': 'node',
  };
  writeFileSync(path, `${JSON.stringify(kubeconfig, undefined, 2)}\n`);
};

/** Whether it is time for another certificate: kubelets ask when about a fifth of its life is left. */
export const isDue = ({ validFromDate, validToDate }: X509Certificate, now: number): boolean => {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  return now >= from + (to - from) * 0.8;
};

export const isOver = ({ validToDate }: X509Certificate, now: number): boolean => now >= validToDate.getTime();
