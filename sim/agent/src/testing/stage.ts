import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Client, createClient, httpsTransport, nodes, secrets } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createKubernetes, nodeAuthorizer, serve } from '@tartan/sim-kubernetes';
import { type Mac, startMac } from '@tartan/sim-mac';
import { hashOf } from '../launched.ts';
import type { Node } from '../node-object.ts';
import { standInAgent, type Traits } from '../stand-in-agent.ts';

const label = 'dev.tuist.tart-kubelet';
const home = '/usr/local/lib/tart-kubelet';
const kubeconfig = '/etc/tart-kubelet/kubeconfig';

/** A cluster in which whoever has a token becomes the Node that it asks to be, one Mac, and hands that do a provider's work. */
export interface Stage {
  readonly mac: Mac;
  readonly client: Client;
  readonly signal: AbortSignal;
  /** A kubeconfig with a fresh token, as it is brought to a Mac. */
  joinKubeconfig(): Promise<string>;
  putKubeconfig(text: string): void;
  readonly kubeconfigOnDisk: string;
  install(traits: Partial<Traits> & Pick<Traits, 'version'>, flags: readonly string[]): Promise<void>;
  /** Loads the job, anew if it is loaded. */
  load(): Promise<void>;
  unload(): Promise<void>;
  stamp(step: string, hash: string): void;
  /** The first state of a Node that is as wanted; `undefined` stands for no Node. */
  nodeUntil(wanted: (node: Node | undefined) => boolean, name?: string): Promise<Node | undefined>;
  close(): Promise<void>;
}

export const openStage = async (): Promise<Stage> => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-agent-'));
  const kubernetes = await createKubernetes({
    authorize: (attributes) =>
      attributes.subresource === 'nodeclient' ? { allowed: true, reason: '' } : nodeAuthorizer(attributes),
  });
  const { handle, identity } = kubernetes;
  const served = await serve({ handle, identity });
  const ca = identity.caCertificate;
  const usages = ['client auth', 'digital signature'] as const;
  const admin = await identity.issue({ commonName: 'admin', organizations: ['system:masters'], usages, seconds: 3600 });
  const transport = httpsTransport({
    server: served.url,
    ca,
    clock: systemClock,
    credentials: () => ({ certificate: { cert: admin.certificate, key: admin.key } }),
  });
  const client = createClient(transport, { clock: systemClock });
  const mac = await startMac({ folder: join(folder, 'mac'), pace: 0.01 });
  const closing = new AbortController();
  let tokens = 0;
  const put = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(mac.path(path)), { recursive: true });
    writeFileSync(mac.path(path), text, { mode });
  };
  const launchctl = async (words: string): Promise<number | null> =>
    (await mac.run(`launchctl ${words}`, { asRoot: true })).code;
  const unload = async (): Promise<void> => {
    await launchctl(`bootout system/${label}`);
  };

  return {
    mac,
    client,
    signal: closing.signal,
    joinKubeconfig: async () => {
      tokens += 1;
      const [id, secret] = [`token${tokens}`, '0123456789abcdef'];
      await client.create(secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { namespace: 'kube-system', name: `bootstrap-token-${id}` },
        type: 'bootstrap.kubernetes.io/token',
        stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true' },
      });
      const cluster = { server: served.url, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
      return JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        clusters: [{ name: 'c', cluster }],
        users: [{ name: 'u', user: { token: `${id}.${secret}` } }],
        contexts: [{ name: 'join', context: { cluster: 'c', user: 'u' } }],
        'current-context': 'join',
      });
    },
    putKubeconfig: (text) => put(kubeconfig, text, 0o600),
    kubeconfigOnDisk: mac.path(kubeconfig),
    install: async (traits, given) => {
      const flags = [`--kubeconfig=${kubeconfig}`, ...given];
      const { runtime, release } = await standInAgent(join(folder, 'files'), traits);
      put(`${home}/releases/${traits.version}/node`, readFileSync(runtime.file, 'utf8'), 0o755);
      put(`${home}/releases/${traits.version}/tart-kubelet.mjs`, readFileSync(release.file, 'utf8'));
      put(`${home}/releases/${traits.version}/arguments`, `${hashOf(flags)}\n`);
      rmSync(mac.path(`${home}/current`), { force: true });
      symlinkSync(`releases/${traits.version}`, mac.path(`${home}/current`));
      const words = [`${home}/current/node`, `${home}/current/tart-kubelet.mjs`, ...flags];
      const strings = words.map((word) => `<string>${word}</string>`).join('');
      put(
        `/Library/LaunchDaemons/${label}.plist`,
        `<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict><key>Label</key><string>${label}</string>` +
          `<key>ProgramArguments</key><array>${strings}</array><key>RunAtLoad</key><true/><key>KeepAlive</key><true/>` +
          '</dict></plist>',
      );
    },
    load: async () => {
      await unload();
      // 5: the one before is still ending.
      const plist = mac.path(`/Library/LaunchDaemons/${label}.plist`);
      for (let code = await launchctl(`bootstrap system ${plist}`); code !== 0; ) {
        if (code !== 5) throw new Error(`launchd refused the job: ${code}`);
        closing.signal.throwIfAborted();
        code = await launchctl(`bootstrap system ${plist}`);
      }
    },
    unload,
    stamp: (step, hash) => put(`/var/db/tartan/steps/${step}`, `${hash}\n`),
    nodeUntil: async (wanted, name = 'mac-1') => {
      const selection = { fieldSelector: `metadata.name=${name}` };
      const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(30_000)]);
      const { items, resourceVersion } = await client.list(nodes, selection);
      let last: Node | undefined = items[0];
      if (wanted(last)) return last;
      for await (const event of client.watch(nodes, { ...selection, resourceVersion, signal })) {
        if (event.type === 'BOOKMARK') continue;
        last = event.type === 'DELETED' ? undefined : event.object;
        if (wanted(last)) return last;
      }
      throw new Error(`the Node did not become as wanted: ${JSON.stringify(last)}`);
    },
    close: async () => {
      closing.abort();
      await mac.stop();
      transport.close();
      await served.close();
      kubernetes.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
