/** What `tartan up` tells a person. Colours only on a terminal. */

const coloured = process.stdout.isTTY && !process.env['NO_COLOR'];
const paint = (code: number, text: string): string => (coloured ? `\u001B[${code}m${text}\u001B[0m` : text);

export const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

export interface Welcome {
  url: string;
  kubeconfig: string;
  seconds: number;
}

export const welcome = ({ url, kubeconfig, seconds }: Welcome): void => {
  say(`${paint(32, '✓')} Kubernetes is up at ${paint(1, url)} (${seconds.toFixed(1)} s)`);
  say('');
  say('In another terminal:');
  say(`  export KUBECONFIG=${kubeconfig}`);
  say('  kubectl get namespaces');
  say('  kubectl create namespace demo');
  say('  kubectl api-resources');
  say('');
  say('Ctrl-C stops it and removes everything it made.');
};
