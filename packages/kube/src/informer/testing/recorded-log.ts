import type { Fields, Logger } from '../../logs/logger.ts';

export interface Line {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  fields: Fields;
}

/** A logger that records its lines. */
export const recordedLog = (): { log: Logger; lines: Line[] } => {
  const lines: Line[] = [];
  const withFields = (base: Fields): Logger => {
    const at =
      (level: Line['level']) =>
      (message: string, fields: Fields = {}): void => {
        lines.push({ level, message, fields: { ...base, ...fields } });
      };
    return {
      debug: at('debug'),
      info: at('info'),
      warn: at('warn'),
      error: at('error'),
      with: (fields) => withFields({ ...base, ...fields }),
    };
  };
  return { log: withFields({}), lines };
};
