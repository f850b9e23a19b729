import type { ClusterConfig, Credentials } from './cluster-config.ts';
import type { CredentialSource } from './credential-source.ts';

/** A source as a configuration offers it. */
export const withRefresh = (source: CredentialSource): Pick<ClusterConfig, 'credentials' | 'refresh'> => {
  let latest: Credentials | undefined;
  return {
    credentials: async () => {
      latest = await source.get();
      return latest;
    },
    refresh: (rejected) => {
      if (rejected === undefined || rejected === latest) source.drop();
    },
  };
};
