import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sleep, systemClock } from '@tartan/kube/clock';
import { apiRequest } from './api-request.ts';
import { ensureBinaries } from './build.ts';
import type { BinaryName } from './build/recipes.ts';
import {
  type ControlPlaneFiles,
  type Identity,
  issueClientCertificate,
  type Subject,
  writeKeyMaterial,
} from './control-plane/certificates.ts';
import { type Component, type ComponentSpec, startComponent } from './control-plane/component.ts';
import { apiServer, controllerManager, etcd, scheduler } from './control-plane/components.ts';
import { type Access, formatKubeconfig } from './control-plane/kubeconfig.ts';
import { stopAtExit } from './control-plane/stop-at-exit.ts';

type ControlPlaneBinary = Extract<
  BinaryName,
  'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kubectl'
>;

export interface ControlPlaneOptions {
  /** Without it there is no garbage collection, namespace deletion, service account creation or certificate signing. */
  controllerManager?: boolean;
  scheduler?: boolean;
  /** The API server accepts only kubelet certificates of the cluster's authority; otherwise any. */
  verifyKubelets?: boolean;
  /** Override the flags that are set here. */
  apiServerFlags?: readonly string[];
  controllerManagerFlags?: readonly string[];
  binaries?: Readonly<Record<ControlPlaneBinary, string>>;
  deadlineMilliseconds?: number;
}

/** A Kubernetes control plane on loopback. Its administrator is in the group system:masters. */
export interface ControlPlane extends Required<Omit<Access, 'token'>> {
  adminKubeconfigPath: string;
  /** Logs (`<component>.log`), keys and data; removed by `stop`. */
  dir: string;
  files: ControlPlaneFiles;
  binaries: Readonly<Record<ControlPlaneBinary, string>>;
  /** Issues a client certificate for another user. */
  issue(subject: Subject): Promise<Identity>;
  /** Ends all processes and removes the folder. Idempotent. */
  stop(): Promise<void>;
}

/** A control plane that this process has started itself. */
export interface OwnControlPlane extends ControlPlane {
  /** Kills the API server and waits until a new one serves on the same port. */
  restartApiServer(): Promise<void>;
}

const defaultDeadlineMilliseconds = 300_000;

/** Starts etcd, the API server and the requested components, and waits until they serve. A failure leaves nothing behind. */
export const startControlPlane = async (options: ControlPlaneOptions = {}): Promise<OwnControlPlane> => {
  const binaries = options.binaries ?? (await ensureBinaries(controlPlaneBinaries));
  const deadlineMilliseconds = options.deadlineMilliseconds ?? defaultDeadlineMilliseconds;
  const dir = mkdtempSync(join(tmpdir(), 'tartan-kubernetes-'));
  const running: Component[] = [];
  const start = (spec: ComponentSpec, ports?: readonly number[]): Promise<Component> =>
    startComponent(spec, {
      dir,
      deadlineMilliseconds,
      onSpawn: (component) => running.push(component),
      ...(ports ? { choosePorts: async () => [...ports] } : {}),
    });
  const { stop } = stopComponentsAtExit(running, dir);

  try {
    const { files, authority, admin } = await writeKeyMaterial(dir);
    const identity = {
      caCertificate: authority.certificate,
      clientCertificate: admin.certificate,
      clientKey: admin.key,
    };
    const { ports: etcdPorts } = await start(etcd(binaries.etcd, dir, files, identity));
    const apiServerSpec = apiServer(binaries['kube-apiserver'], dir, files, identity, {
      etcdPort: etcdPorts[0] ?? 0,
      flags: [
        ...(options.verifyKubelets === true ? [`--kubelet-certificate-authority=${files.ca}`] : []),
        ...(options.apiServerFlags ?? []),
      ],
    });
    let api = await start(apiServerSpec);
    const { ports: apiPorts } = api;
    const access = { ...identity, url: `https://127.0.0.1:${apiPorts[0]}` };
    const adminKubeconfigPath = join(dir, 'admin.kubeconfig');
    writeFileSync(adminKubeconfigPath, formatKubeconfig(access), { mode: 0o600 });
    await Promise.all([
      options.controllerManager === true &&
        start(
          controllerManager(
            binaries['kube-controller-manager'],
            adminKubeconfigPath,
            files,
            identity,
            options.controllerManagerFlags ?? [],
          ),
        ).then(() => defaultServiceAccount(access, deadlineMilliseconds)),
      options.scheduler === true && start(scheduler(binaries['kube-scheduler'], adminKubeconfigPath, files, identity)),
    ]);
    return {
      ...access,
      adminKubeconfigPath,
      dir,
      files,
      binaries,
      issue: (subject) => issueClientCertificate(authority, subject),
      restartApiServer: async () => {
        api.kill();
        await api.stop();
        api = await start(apiServerSpec, apiPorts);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
};

const controlPlaneBinaries = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
] as const;

/** In the order of their start; stops them in reverse order, since an API server without etcd hangs on shutdown. */
export const stopComponentsAtExit = (running: readonly Component[], dir: string): { stop: () => Promise<void> } => {
  const removeFolder = (): void => rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
  let stopping: Promise<void> | undefined;
  const stopAll = async (): Promise<void> => {
    for (const component of running.toReversed()) await component.stop();
    removeFolder();
    release();
  };
  const stop = (): Promise<void> => (stopping ??= stopAll());
  const release = stopAtExit({
    stop,
    killNow: () => {
      for (const component of running.toReversed()) component.kill();
      removeFolder();
    },
  });
  return { stop };
};

/** The API server rejects Pods in a namespace until the controller manager has created its service account. */
const defaultServiceAccount = async (access: Access, deadlineMilliseconds: number): Promise<void> => {
  const deadline = systemClock.monotonic() + deadlineMilliseconds;
  while (systemClock.monotonic() < deadline) {
    const { status } = await apiRequest(access, '/api/v1/namespaces/default/serviceaccounts/default');
    if (status === 200) return;
    await sleep(systemClock, 100);
  }
  throw new Error(`the controller manager created no default service account within ${deadlineMilliseconds / 1000} s`);
};
