import { ConfigError, type Place } from './config-error.ts';

const largestFile = 10 * 1024 * 1024;

/**
 * The parser's own texts quote the document, which holds tokens: only its code and the line are passed on. It is loaded when a
 * document needs it: what runs in a cluster has none, and JSON, which is YAML too, goes without.
 */
export const parseYaml = async (file: string, text: string): Promise<unknown> => {
  const whole: Place = { file, field: '' };
  if (text.length > largestFile) throw new ConfigError(whole, 'is larger than 10 MiB, which no kubeconfig is.');
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text);
    } catch {
      // YAML that begins like JSON, or neither: the parser below tells.
    }
  }
  const { LineCounter, parseDocument } = await import('yaml');
  try {
    const lineCounter = new LineCounter();
    const document = parseDocument(text, { prettyErrors: false, lineCounter, logLevel: 'error' });
    const [error] = document.errors;
    if (error !== undefined) {
      const { line } = lineCounter.linePos(error.pos[0]);
      throw new ConfigError(
        whole,
        `is not YAML: line ${line}: ${error.code}. Compare it with a file that kubectl wrote.`,
      );
    }
    return document.toJS();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(whole, 'is not YAML that can be read: nested too deeply, or with too many aliases.');
  }
};
