import { LineCounter, parseDocument } from 'yaml';
import { ConfigError, type Place } from './config-error.ts';

const largestFile = 10 * 1024 * 1024;

/** The parser's own texts quote the document, which holds tokens: only its code and the line are passed on. */
export const parseYaml = (file: string, text: string): unknown => {
  const whole: Place = { file, field: '' };
  if (text.length > largestFile) throw new ConfigError(whole, 'is larger than 10 MiB, which no kubeconfig is.');
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
