import { scriptText } from '../engine/compose-script.ts';
import { renderPlist } from '../launchd-plist.ts';
import { defineStep } from './step.ts';

const plist = renderPlist({
  Label: 'dev.tuist.node-exporter',
  ProgramArguments: ['/usr/local/bin/tuist-node-exporter-wrapper'],
  RunAtLoad: true,
  KeepAlive: true,
  ThrottleInterval: 10,
  StandardOutPath: '/var/log/tuist-node-exporter.log',
  StandardErrorPath: '/var/log/tuist-node-exporter.log',
});

/** Metrics of the host. node_exporter listens only on the tailnet, so the step comes after the one that joins it. */
export const nodeExporter = defineStep({
  name: 'node-exporter',
  title: 'export metrics of the host',
  deadline: 120_000,
  intent: ({ tailscale, nodeExporter: exporter }) => (tailscale && exporter ? { exporter } : undefined),
  environment: ({ exporter }) => ({
    EXPORTER: exporter.sha256,
    WRAPPER: scriptText('node-exporter-wrapper'),
    PLIST: plist,
  }),
});
