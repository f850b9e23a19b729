/** What pfctl has to say about a file. The only thing that the parser throws. */
export class PfSyntaxError extends Error {
  readonly file: string;
  readonly line: number;

  constructor(file: string, line: number, message: string) {
    super(message);
    this.name = 'PfSyntaxError';
    this.file = file;
    this.line = line;
  }
}
