import type { HostFacts } from './snapshot.ts';

/** As far as Scaleway says. One that nobody has been asked about is taken to run: its Node knows better. */
export const isHostRunning = (host: HostFacts): boolean => {
  switch (host.kind) {
    case 'none':
      return false;
    case 'absent':
      return host.server !== 'gone';
    case 'present':
      return !host.gone && (host.serverStatus === undefined || host.serverStatus === 'ready');
  }
};
