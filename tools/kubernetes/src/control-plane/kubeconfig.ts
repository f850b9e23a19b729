import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parse, stringify } from 'yaml';

/** How to reach an API server, and as whom. */
export interface Access {
  url: string;
  /** PEM. */
  caCertificate: string;
  clientCertificate?: string;
  clientKey?: string;
  token?: string;
}

/** A kubeconfig that holds everything itself, so that it can be handed to any process. */
export const formatKubeconfig = (access: Access): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'tartan',
    clusters: [
      { name: 'tartan', cluster: { server: access.url, 'certificate-authority-data': toBase64(access.caCertificate) } },
    ],
    users: [
      {
        name: 'tartan',
        user: {
          ...(access.clientCertificate !== undefined && {
            'client-certificate-data': toBase64(access.clientCertificate),
          }),
          ...(access.clientKey !== undefined && { 'client-key-data': toBase64(access.clientKey) }),
          ...(access.token !== undefined && { token: access.token }),
        },
      },
    ],
    contexts: [{ name: 'tartan', context: { cluster: 'tartan', user: 'tartan' } }],
  });

interface Kubeconfig {
  'current-context'?: string;
  clusters?: { name: string; cluster: Record<string, string | undefined> }[];
  users?: { name: string; user: Record<string, string | undefined> }[];
  contexts?: { name: string; context: { cluster: string; user: string } }[];
}

/** What the current context of a kubeconfig says. Users that need a plugin to log in are refused. */
export const readKubeconfig = (path: string): Access => {
  const config: Kubeconfig | null = parse(readFileSync(path, 'utf8'));
  const context = named(config?.contexts, config?.['current-context'])?.context;
  const cluster = named(config?.clusters, context?.cluster)?.cluster;
  const user = named(config?.users, context?.user)?.user;
  if (cluster?.['server'] === undefined || user === undefined) {
    throw new Error(
      `${path} has no current context that names a server and a user: choose one with "kubectl config use-context"`,
    );
  }
  const pem = (holder: Record<string, string | undefined>, key: string): string | undefined => {
    const data = holder[`${key}-data`];
    if (data !== undefined) return Buffer.from(data, 'base64').toString();
    const file = holder[key];
    return file === undefined ? undefined : readFileSync(resolve(dirname(path), file), 'utf8');
  };
  const clientCertificate = pem(user, 'client-certificate');
  const clientKey = pem(user, 'client-key');
  const token = user['token'];
  if (clientCertificate === undefined && token === undefined) {
    throw new Error(
      `the current user of ${path} has neither a client certificate nor a token, and plugins are not supported here`,
    );
  }
  return {
    url: cluster['server'],
    caCertificate: pem(cluster, 'certificate-authority') ?? '',
    ...(clientCertificate !== undefined && { clientCertificate }),
    ...(clientKey !== undefined && { clientKey }),
    ...(token !== undefined && { token }),
  };
};

const named = <T extends { name: string }>(items: readonly T[] | undefined, name: string | undefined): T | undefined =>
  items?.find((item) => item.name === name);

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');
