import { createKubernetes } from '@tartan/sim-kubernetes';
import { stringify } from 'yaml';

export interface IssuedCertificate {
  certificate: string;
  key: string;
}

/** A CA and two client certificates that it signed. */
export const issueCertificates = async (): Promise<{
  authority: string;
  first: IssuedCertificate;
  second: IssuedCertificate;
}> => {
  const { identity, stop } = await createKubernetes({ controllers: false });
  stop();
  const request = { commonName: 'u', organizations: [], usages: ['client auth' as const], seconds: 86_400 };
  const [first, second] = await Promise.all([identity.issue(request), identity.issue(request)]);
  return { authority: identity.caCertificate, first, second };
};

export const base64 = (text: string): string => Buffer.from(text).toString('base64');

export type Section = Record<string, unknown>;

/** A valid kubeconfig with one cluster, one user and one context, unless overridden. */
export const kubeconfig = ({
  cluster,
  user,
  context,
  ...rest
}: { cluster?: Section; user?: Section; context?: Section } & Section = {}): string =>
  stringify({
    clusters: [{ name: 'c', cluster: { server: 'https://host:6443', ...cluster } }],
    users: [{ name: 'u', user: user ?? { token: 'abc' } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'x',
    ...rest,
  });

/** Content, or the error code of the read. */
export type Files = Record<string, string | { code: string }>;

export const fakeFileSystem = (files: Files) => {
  const reads: string[] = [];
  const readFile = (path: string): Promise<string> => {
    reads.push(path);
    const found = files[path] ?? { code: 'ENOENT' };
    return typeof found === 'string'
      ? Promise.resolve(found)
      : Promise.reject(Object.assign(new Error('disk'), { code: found.code }));
  };
  return { files, reads, readFile };
};
