import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type ControlPlane, startClusterApi, startControlPlane } from '@tartan/tools-kubernetes';
import { chart, helm, run, type CommandResult } from './helm.ts';
import { outsideKinds } from './outside-kinds.ts';
import { namespace } from './render.ts';

export interface ChartPlane {
  readonly plane: ControlPlane;
  /** As the administrator. */
  kubectl(args: readonly string[], input?: string): Promise<CommandResult>;
  /** The same, but must succeed; returns the output. */
  done(args: readonly string[], input?: string): Promise<string>;
  /** In the namespace of the release. */
  helm(args: readonly string[], values?: object): Promise<CommandResult>;
  stop(): Promise<void>;
}

/** A cluster for the chart: Kubernetes with running Cluster API core, Tartan's kinds and foreign ones. No kubelet runs Pods. */
export const startChartPlane = async (): Promise<ChartPlane> => {
  const plane = await startControlPlane({ controllerManager: true });
  const kubectl: ChartPlane['kubectl'] = (args, input) =>
    run(plane.binaries.kubectl, ['--kubeconfig', plane.adminKubeconfigPath, ...args], input);
  const done: ChartPlane['done'] = async (args, input) => {
    const { code, stdout, stderr } = await kubectl(args, input);
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${stderr}`);
    return stdout;
  };
  try {
    const core = await startClusterApi(plane);
    await done(['create', 'namespace', namespace]);
    await done(['apply', '--server-side', '-f', join(chart, 'crds')]);
    await done(['apply', '-f', '-'], listOf(outsideKinds));
    await done(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=300s']);
    return {
      plane,
      kubectl,
      done,
      helm: (args, values) =>
        helm([...args, '--namespace', namespace], values, {
          ...process.env,
          KUBECONFIG: plane.adminKubeconfigPath,
          HOME: plane.dir,
        }),
      stop: async () => {
        await core.stop();
        await plane.stop();
      },
    };
  } catch (error) {
    await plane.stop();
    throw error;
  }
};

export const listOf = (items: readonly object[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
