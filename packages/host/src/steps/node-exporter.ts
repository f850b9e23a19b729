import type { Artifact } from '../artifacts/artifact.ts';
import { scriptText } from '../engine/compose-script.ts';
import { renderPlist } from '../launchd-plist.ts';
import type { Step } from './step.ts';

interface Intent {
  readonly exporter: Artifact;
}

const plist = renderPlist({
  label: 'dev.tuist.node-exporter',
  arguments: ['/usr/local/bin/tuist-node-exporter-wrapper'],
  runAtLoad: true,
  keepAlive: true,
  throttleInterval: 10,
  log: '/var/log/tuist-node-exporter.log',
});

/** Metrics of the host. Only on the tailnet: without one there is nowhere to listen. Stands after the step that joins it. */
export const nodeExporter: Step<Intent> = {
  name: 'node-exporter',
  title: 'export metrics of the host',
  deadline: 120_000,
  intent: ({ tailscale, nodeExporter: exporter }) => (tailscale && exporter ? { exporter } : undefined),
  environment: ({ exporter }) => ({
    EXPORTER: exporter.sha256,
    WRAPPER: scriptText('node-exporter-wrapper'),
    PLIST: plist,
  }),
  artifacts: ({ exporter }) => [exporter],
};
