import type { ClusterConfig } from './cluster-config.ts';
import { ConfigError, type Place } from './config-error.ts';
import type { ClusterEntry } from './kubeconfig.ts';
import { checkCertificates, decodeBase64 } from './pem.ts';
import { type ReadFile, readExisting } from './read-file.ts';

export type ClusterAddress = Pick<ClusterConfig, 'server' | 'ca' | 'insecureSkipTlsVerify' | 'serverName'>;

export const clusterAddress = async (entry: ClusterEntry, readFile: ReadFile): Promise<ClusterAddress> => {
  const { fields, server, serverName, insecureSkipTlsVerify, proxyUrl } = entry;
  if (server === undefined) throw new ConfigError(fields.placeOf('server'), 'is missing.');
  if (proxyUrl !== undefined)
    throw new ConfigError(
      fields.placeOf('proxy-url'),
      'proxies are not supported. Remove it and reach the server directly.',
    );
  const ca = await authorityOf(entry, readFile);
  if (ca !== undefined && insecureSkipTlsVerify)
    throw new ConfigError(
      fields.placeOf('insecure-skip-tls-verify'),
      'contradicts the certificate authority beside it. Remove one of them.',
    );
  return {
    server: checkServer(fields.placeOf('server'), server),
    ...(ca === undefined ? {} : { ca }),
    ...(insecureSkipTlsVerify ? { insecureSkipTlsVerify } : {}),
    ...(serverName === undefined ? {} : { serverName }),
  };
};

/** Without the text itself in the error: somebody may have put a password into it. */
export const checkServer = (place: Place, server: string): string => {
  const url = URL.parse(server);
  if (url === null) throw new ConfigError(place, 'is not a URL. It must look like https://host:6443.');
  if (url.protocol !== 'https:')
    throw new ConfigError(
      place,
      'must be an https:// URL: credentials are not sent over a connection that is not encrypted.',
    );
  if (url.username !== '' || url.password !== '')
    throw new ConfigError(place, 'must not hold a user name or a password. Put the credentials into users[].');
  if (url.search !== '' || url.hash !== '') throw new ConfigError(place, 'must not have a query or a fragment.');
  return server.replace(/\/+$/, '');
};

const authorityOf = async (
  { fields, caData, caFile }: ClusterEntry,
  readFile: ReadFile,
): Promise<string | undefined> => {
  const place = fields.placeOf(caData === undefined ? 'certificate-authority' : 'certificate-authority-data');
  const pem =
    caData !== undefined
      ? decodeBase64(place, caData)
      : caFile === undefined
        ? undefined
        : await readExisting(readFile, caFile, place);
  if (pem !== undefined) checkCertificates(place, pem);
  return pem;
};
