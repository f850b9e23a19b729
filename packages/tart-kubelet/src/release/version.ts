import packageFile from '../../package.json' with { type: 'json' };

/** Of the agent itself; what the Node reports as its kubelet's is another matter (`--kubelet-version`). */
export const agentVersion: string = `v${packageFile.version}`;
