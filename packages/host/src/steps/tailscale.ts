import { renderPlist } from '../launchd-plist.ts';
import { defineStep } from './step.ts';

const plist = renderPlist({
  Label: 'com.tailscale.tailscaled',
  ProgramArguments: [
    '/usr/local/bin/tailscaled',
    '--state=/var/lib/tailscale/tailscaled.state',
    '--socket=/var/run/tailscaled.socket',
    '--port=41641',
  ],
  RunAtLoad: true,
  KeepAlive: true,
  ThrottleInterval: 10,
  StandardOutPath: '/var/log/tailscaled.log',
  StandardErrorPath: '/var/log/tailscaled.log',
});

const isOAuthSecret = (key: string): boolean => key.startsWith('tskey-client-');

/**
 * An OAuth client secret does not expire, unlike an auth key (INC-216), and takes the key's options as a query. Both are explicit instead
 * of defaults: the device needs no approval, and the tailnet does not remove it while it is offline.
 */
const joinKey = (key: string): string =>
  isOAuthSecret(key) && !key.includes('?') ? `${key}?ephemeral=false&preauthorized=true` : key;

/** Makes the host a device of the tailnet. */
export const tailscale = defineStep({
  name: 'tailscale',
  title: 'join the tailnet',
  restartsTransport: 'tailnet',
  // At worst: a restart of 52 s, 30 s until it answers, 30 s for its address, 90 s to join, and 30 s for its new address.
  deadline: 300_000,
  intent: ({ nodeName, tailscale: wanted }) =>
    wanted && {
      binaries: wanted.binaries,
      nodeName,
      tags: wanted.tags.toSorted(),
      acceptRoutes: wanted.acceptRoutes,
      authKeyVersion: wanted.authKeyVersion,
    },
  environment: ({ binaries, nodeName, tags, acceptRoutes, authKeyVersion }) => ({
    BINARIES: binaries.sha256,
    PLIST: plist,
    NODE_NAME: nodeName,
    TAGS: tags.join(','),
    ACCEPT_ROUTES: acceptRoutes ? 'yes' : 'no',
    AUTH_KEY_VERSION: authKeyVersion,
  }),
  payload: (_, { tailscaleAuthKey }) => (tailscaleAuthKey ? joinKey(tailscaleAuthKey) : undefined),
  violation: ({ tags }, { tailscaleAuthKey }) =>
    tailscaleAuthKey !== undefined && isOAuthSecret(tailscaleAuthKey) && tags.length === 0
      ? 'the Tailscale auth key is an OAuth client secret, with which only tagged devices can join: give the host tags, or an auth key'
      : undefined,
});
