//! Library calls that reach files, networks, pickles or an evaluator, by path and by method name.
//!
//! Knowledge, not policy: each entry says what the call does and which argument decides.

use super::library::library;

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Read,
    Write,
    /// Reads a file, and a pickle in it when asked to.
    NumpyLoad,
    /// Takes a path or what is in memory; text that is not a path is data.
    ReadPathOrText,
    /// Runs whatever the bytes say.
    Unpickle,
    Pickle,
    Network,
    Database,
    Clipboard,
    /// Evaluates its text argument as an expression.
    Query,
    /// Evaluates its text argument as a model formula (patsy).
    Formula,
    /// Imports the module that its text argument names.
    Backend,
    /// A style sheet: a name, a file or a URL.
    Style,
    Exec,
    Native,
    ReadsSystem,
    ChangesSystem,
    /// Sets the option that its text argument names.
    Option,
    /// `df.agg("name")`: calls the method of that name.
    ByName,
    /// A template engine.
    Template,
    /// Saves; a name that ends as a pickle's does makes it one.
    Save,
    Copies,
}

/// One library call.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    pub effect: Effect,
    /// Position of the argument that decides.
    pub index: usize,
    /// Its keyword names.
    pub names: &'static [&'static str],
}

const fn entry(effect: Effect, index: usize, names: &'static [&'static str]) -> Option<Entry> {
    Some(Entry {
        effect,
        index,
        names,
    })
}

const PATHS: &[&str] = &[
    "path",
    "path_or_buf",
    "filepath_or_buffer",
    "io",
    "fname",
    "file",
    "filename",
    "buf",
    "excel_writer",
    "path_or_buffer",
    "where",
    "source",
    "dest",
    "input_file",
    "output_file",
    "path_or_paths",
    "root_path",
    "file_name",
    "filepath",
    "f",
    "fd",
    "infile",
    "base_dir",
    "metadata_path",
    "path_or_open_file",
    "sink",
    "style_dir",
    "font_filepaths",
    "stream_or_path",
    "outfile",
];

/// A call by the path of what is called. A submodule may carry its package's functions on
/// (`numpy.matlib.load`): they count as the package's own.
pub fn member(path: &str) -> Option<Entry> {
    exact(path).or_else(|| {
        let (module, name) = path.rsplit_once('.')?;
        let (top, _) = module.split_once('.')?;
        let class = module
            .rsplit('.')
            .next()
            .is_some_and(|last| last.starts_with(char::is_uppercase));
        if class {
            return None;
        }
        match top {
            "numpy" | "pandas" | "pyarrow" | "seaborn" | "matplotlib" => {
                exact(&format!("{top}.{name}"))
            }
            _ => None,
        }
    })
}

fn exact(path: &str) -> Option<Entry> {
    use Effect::{
        Backend, ByName, ChangesSystem, Clipboard, Copies, Database, Exec, Formula, Native,
        Network, NumpyLoad, Option as SetOption, Pickle, Query, Read, ReadPathOrText, ReadsSystem,
        Style, Unpickle, Write,
    };
    match path {
        // pandas
        "pandas.read_csv"
        | "pandas.read_table"
        | "pandas.read_fwf"
        | "pandas.read_excel"
        | "pandas.read_parquet"
        | "pandas.read_feather"
        | "pandas.read_orc"
        | "pandas.read_stata"
        | "pandas.read_sas"
        | "pandas.read_spss"
        | "pandas.ExcelFile"
        | "pandas.ExcelFile.CalamineReader"
        | "pandas.ExcelFile.ODFReader"
        | "pandas.ExcelFile.OpenpyxlReader"
        | "pandas.ExcelFile.PyxlsbReader"
        | "pandas.ExcelFile.XlrdReader"
        | "pandas.read_xml" => entry(Read, 0, PATHS),
        "pandas.read_json" | "pandas.read_html" => entry(ReadPathOrText, 0, PATHS),
        "pandas.ExcelWriter" | "matplotlib.backends.backend_pdf.PdfPages" => entry(Write, 0, PATHS),
        // Either way, by their modes.
        "gzip.open"
        | "gzip.GzipFile"
        | "zipfile.ZipFile"
        | "scipy.io.FortranFile"
        | "scipy.io.netcdf_file" => entry(Write, 0, PATHS),
        "zipfile.is_zipfile" => entry(Read, 0, PATHS),
        "filecmp.cmp" | "filecmp.cmpfiles" | "filecmp.dircmp" => entry(Read, 0, &["f1", "a"]),
        "pandas.read_pickle" | "pandas.read_hdf" | "pandas.HDFStore" => entry(Unpickle, 0, PATHS),
        "pandas.to_pickle" => entry(Pickle, 1, PATHS),
        "pandas.read_sql" | "pandas.read_sql_query" | "pandas.read_sql_table" => {
            entry(Database, 1, &["con"])
        }
        "pandas.read_gbq" | "pandas.read_iceberg" => entry(Network, 0, &[]),
        "pandas.read_clipboard" => entry(Clipboard, 0, &[]),
        "pandas.eval" => entry(Query, 0, &["expr"]),
        "pandas.pivot_table" => entry(ByName, 4, &["aggfunc"]),
        "pandas.crosstab" => entry(ByName, 5, &["aggfunc"]),
        "pandas.NamedAgg" => entry(ByName, 1, &["aggfunc"]),
        "pandas.set_option" | "pandas.option_context" => entry(SetOption, 0, &["pat"]),
        "pandas.test"
        | "numpy.test"
        | "scipy.test"
        | "pandas.show_versions"
        | "sklearn.show_versions"
        | "numpy.show_config"
        | "scipy.show_config"
        | "numpy.show_runtime" => entry(ReadsSystem, 0, &[]),
        // numpy
        "numpy.load" => entry(NumpyLoad, 0, PATHS),
        "numpy.save" | "numpy.savez" | "numpy.savez_compressed" | "numpy.savetxt" => {
            entry(Write, 0, PATHS)
        }
        "numpy.loadtxt"
        | "numpy.genfromtxt"
        | "numpy.fromfile"
        | "numpy.memmap"
        | "numpy.fromregex"
        | "numpy.rec.fromfile"
        | "numpy.lib.format.open_memmap" => entry(Read, 0, PATHS),
        "numpy.DataSource" | "numpy.lib.npyio.DataSource" => entry(Network, 0, &[]),
        "numpy.get_include" | "numpy.info" | "numpy.source" | "numpy.lookfor" => {
            entry(ReadsSystem, 0, &[])
        }
        "numpy.ctypeslib.load_library" | "numpy.lib.stride_tricks.as_strided" => {
            entry(Native, 0, &[])
        }
        "numpy.seterrcall" | "numpy.setbufsize" => entry(ChangesSystem, 0, &[]),
        // scipy
        "scipy.io.loadmat"
        | "scipy.io.mmread"
        | "scipy.io.mminfo"
        | "scipy.io.readsav"
        | "scipy.io.whosmat"
        | "scipy.io.arff.loadarff"
        | "scipy.io.wavfile.read"
        | "scipy.io.hb_read"
        | "scipy.sparse.load_npz" => entry(Read, 0, PATHS),
        "scipy.io.savemat"
        | "scipy.io.mmwrite"
        | "scipy.io.hb_write"
        | "scipy.io.wavfile.write"
        | "scipy.sparse.save_npz" => entry(Write, 0, PATHS),
        "scipy.LowLevelCallable" | "scipy.LowLevelCallable.from_cython" => entry(Native, 0, &[]),
        // scikit-learn
        "sklearn.datasets.fetch_20newsgroups"
        | "sklearn.datasets.fetch_20newsgroups_vectorized"
        | "sklearn.datasets.fetch_california_housing"
        | "sklearn.datasets.fetch_covtype"
        | "sklearn.datasets.fetch_file"
        | "sklearn.datasets.fetch_kddcup99"
        | "sklearn.datasets.fetch_lfw_pairs"
        | "sklearn.datasets.fetch_lfw_people"
        | "sklearn.datasets.fetch_olivetti_faces"
        | "sklearn.datasets.fetch_openml"
        | "sklearn.datasets.fetch_rcv1"
        | "sklearn.datasets.fetch_species_distributions" => entry(Network, 0, &[]),
        "sklearn.datasets.load_files" => entry(Read, 0, &["container_path"]),
        "sklearn.datasets.load_svmlight_file" | "sklearn.datasets.load_svmlight_files" => {
            entry(Read, 0, &["f", "files"])
        }
        "sklearn.datasets.dump_svmlight_file" => entry(Write, 2, &["f"]),
        "sklearn.tree.export_graphviz" => entry(Write, 1, &["out_file"]),
        "sklearn.pipeline.check_memory" => entry(Write, 0, &["memory"]),
        "sklearn.datasets.clear_data_home" | "sklearn.datasets.get_data_home" => {
            entry(ChangesSystem, 0, &[])
        }
        // statsmodels
        "statsmodels.api.datasets.get_rdataset"
        | "statsmodels.datasets.get_rdataset"
        | "statsmodels.api.webdoc"
        | "statsmodels.datasets.webuse" => entry(Network, 0, &[]),
        "statsmodels.api.load" | "statsmodels.api.load_pickle" => entry(Unpickle, 0, PATHS),
        // The X-13 program is looked for on the machine and started.
        "statsmodels.tsa.api.x13_arima_analysis" | "statsmodels.tsa.api.x13_arima_select_order" => {
            entry(Exec, 0, &[])
        }
        "statsmodels.imputation.mice.MICE" | "statsmodels.api.MICE" => {
            entry(Formula, 0, &["model_formula"])
        }
        "statsmodels.api.MI" => entry(Formula, 4, &["formula"]),
        "statsmodels.api.test" | "statsmodels.api.show_versions" => entry(ReadsSystem, 0, &[]),
        // plotly
        "plotly.io.write_html"
        | "plotly.io.write_image"
        | "plotly.io.write_images"
        | "plotly.io.write_json" => entry(Write, 1, PATHS),
        "plotly.offline.download_plotlyjs" => entry(Network, 0, &[]),
        "plotly.io.read_json" => entry(Read, 0, PATHS),
        "plotly.io.get_chrome" | "plotly.io.kaleido" | "plotly.io.orca" => entry(Exec, 0, &[]),
        "plotly.offline.plot" => entry(Write, 4, &["filename"]),
        "plotly.offline.iplot" => entry(Write, 3, &["filename"]),
        "plotly.offline.plot_mpl" | "plotly.offline.iplot_mpl" => entry(Write, 7, &["filename"]),
        // matplotlib
        "matplotlib.pyplot.savefig" | "matplotlib.pyplot.imsave" | "matplotlib.image.imsave" => {
            entry(Write, 0, PATHS)
        }
        "matplotlib.image.thumbnail"
        | "matplotlib.pyplot.imread"
        | "matplotlib.image.imread"
        | "matplotlib.text.get_font"
        | "matplotlib.style.read_style_directory" => entry(Read, 0, PATHS),
        "matplotlib.rc_context" => entry(Read, 1, &["fname"]),
        "matplotlib.rc_file" | "matplotlib.rc_params_from_file" => entry(Read, 0, PATHS),
        "matplotlib.use" | "matplotlib.pyplot.switch_backend" => {
            entry(Backend, 0, &["backend", "newbackend"])
        }
        "matplotlib.style.use"
        | "matplotlib.style.context"
        | "matplotlib.pyplot.style.use"
        | "matplotlib.pyplot.style.context" => entry(Style, 0, &["style"]),
        "matplotlib.get_cachedir"
        | "matplotlib.get_configdir"
        | "matplotlib.get_data_path"
        | "matplotlib.matplotlib_fname" => entry(ReadsSystem, 0, &[]),
        "matplotlib.pyplot.install_repl_displayhook"
        | "matplotlib.pyplot.uninstall_repl_displayhook" => entry(ChangesSystem, 0, &[]),
        "matplotlib.font_manager.FontProperties" => entry(Read, 6, &["fname"]),
        // the standard library
        "logging.FileHandler" => entry(Write, 0, &["filename"]),
        "logging.basicConfig" => entry(Write, 9, &["filename"]),
        // seaborn
        "seaborn.load_dataset" | "seaborn.get_dataset_names" | "seaborn.get_data_home" => {
            entry(Network, 0, &[])
        }
        // pyarrow
        "pyarrow.parquet.read_table"
        | "pyarrow.parquet.ParquetFile"
        | "pyarrow.parquet.read_schema"
        | "pyarrow.parquet.read_metadata"
        | "pyarrow.parquet.read_pandas"
        | "pyarrow.parquet.ParquetDataset"
        | "pyarrow.csv.read_csv"
        | "pyarrow.csv.open_csv"
        | "pyarrow.json.read_json"
        | "pyarrow.json.open_json"
        | "pyarrow.feather.read_table"
        | "pyarrow.feather.read_feather"
        | "pyarrow.orc.read_table"
        | "pyarrow.orc.ORCFile"
        | "pyarrow.dataset.dataset"
        | "pyarrow.dataset.parquet_dataset"
        | "pyarrow.dataset.FileSystemDataset.from_paths"
        | "pyarrow.feather.FeatherDataset"
        | "pyarrow.RecordBatchFileReader"
        | "pyarrow.RecordBatchStreamReader"
        | "pyarrow.memory_map"
        | "pyarrow.OSFile"
        | "pyarrow.input_stream" => entry(Read, 0, PATHS),
        "pyarrow.parquet.write_table"
        | "pyarrow.csv.write_csv"
        | "pyarrow.feather.write_feather"
        | "pyarrow.orc.write_table"
        | "pyarrow.parquet.write_to_dataset"
        | "pyarrow.dataset.write_dataset"
        | "pyarrow.parquet.write_metadata" => entry(Write, 1, PATHS),
        "pyarrow.output_stream"
        | "pyarrow.RecordBatchFileWriter"
        | "pyarrow.RecordBatchStreamWriter"
        | "pyarrow.create_memory_map"
        | "pyarrow.parquet.ParquetWriter"
        | "pyarrow.csv.CSVWriter"
        | "pyarrow.orc.ORCWriter" => entry(Write, 0, PATHS),
        "pyarrow.set_timezone_db_path" | "pyarrow.MemoryMappedFile" => entry(ReadsSystem, 0, &[]),
        "pyarrow.deserialize" | "pyarrow.deserialize_from" | "pyarrow.read_serialized" => {
            entry(Unpickle, 0, PATHS)
        }
        "pyarrow.foreign_buffer"
        | "pyarrow.jemalloc_set_decay_ms"
        | "pyarrow.get_include"
        | "pyarrow.get_libraries"
        | "pyarrow.get_library_dirs"
        | "pyarrow.create_library_symlinks" => entry(Native, 0, &[]),
        "pyarrow.show_info" | "pyarrow.show_versions" => entry(ReadsSystem, 0, &[]),
        // standard library
        "copy.copy" | "copy.deepcopy" => entry(Copies, 0, &[]),
        _ => {
            if let Some(rest) = path.strip_prefix("statsmodels.formula.api.") {
                return (!rest.contains('.')).then_some(Entry {
                    effect: Formula,
                    index: 0,
                    names: &["formula"],
                });
            }
            if path.starts_with("scipy.datasets.") {
                return entry(Network, 0, &[]);
            }
            if path.ends_with(".from_formula") {
                return entry(Formula, 0, &["formula"]);
            }
            // A method read from its class (`pandas.DataFrame`, `numpy.ndarray`): the instance is the
            // first argument.
            let (class, name) = path.rsplit_once('.')?;
            let last = class.rsplit('.').next()?;
            let lower = class.contains('.') && !library().is_listed(class);
            if last.starts_with(char::is_uppercase) || lower {
                return method(name).map(|e| Entry {
                    index: e.index.saturating_add(1),
                    ..e
                });
            }
            None
        }
    }
}

/// Arguments of the same call that decide as well.
pub fn also(path: &str) -> &'static [Entry] {
    const fn of(effect: Effect, index: usize, names: &'static [&'static str]) -> Entry {
        Entry {
            effect,
            index,
            names,
        }
    }
    const STYLESHEET: &[Entry] = &[of(Effect::Read, 11, &["stylesheet"])];
    const THUMBNAIL: &[Entry] = &[of(Effect::Write, 1, &["thumbfile"])];
    const UNPACKED: &[Entry] = &[of(Effect::Write, 3, &["uncompressed_file_name"])];
    const REPORTS: &[Entry] = &[
        of(Effect::Write, 8, &["errfile"]),
        of(Effect::Write, 9, &["rptfile"]),
    ];
    const BACKEND: &[Entry] = &[of(Effect::Backend, 9, &["backend"])];
    const BACKEND_14: &[Entry] = &[of(Effect::Backend, 14, &["backend"])];
    // By keyword only: their positions differ, or they have none.
    const STYLESHEET_BY_NAME: &[Entry] = &[of(Effect::Read, usize::MAX, &["stylesheet"])];
    const BACKEND_BY_NAME: &[Entry] = &[of(Effect::Backend, usize::MAX, &["backend"])];
    const BASENAME: &[Entry] = &[of(Effect::Write, usize::MAX, &["basename_template"])];
    match path {
        "to_xml" => STYLESHEET_BY_NAME,
        "pyarrow.dataset.write_dataset" | "pyarrow.parquet.write_to_dataset" => BASENAME,
        "pandas.plotting.boxplot_frame"
        | "pandas.plotting.boxplot_frame_groupby"
        | "pandas.plotting.boxplot"
        | "pandas.plotting.hist_series" => BACKEND_BY_NAME,
        _ if path.ends_with(".to_xml") => STYLESHEET_BY_NAME,
        "pandas.read_xml" => STYLESHEET,
        "matplotlib.image.thumbnail" => THUMBNAIL,
        "scipy.io.readsav" => UNPACKED,
        "scipy.odr.ODR" => REPORTS,
        // Positions of the plotting methods that take a backend (pandas 2 and 3).
        "hist" => BACKEND,
        "pandas.plotting.hist_frame" => BACKEND_14,
        _ => &[],
    }
}

/// A call by the name of a method, on an object that is not known.
pub fn method(name: &str) -> Option<Entry> {
    use Effect::{
        ByName, Clipboard, Database, Exec, Formula, Network, Pickle, Query, Read, Save, Template,
        Unpickle, Write,
    };
    match name {
        "to_csv"
        | "to_excel"
        | "to_parquet"
        | "to_feather"
        | "to_json"
        | "to_latex"
        | "to_markdown"
        | "to_string"
        | "to_stata"
        | "to_xml"
        | "to_orc"
        | "savefig"
        | "write_html"
        | "write_image"
        | "write_json"
        | "write_png"
        | "tofile"
        | "print_bmp"
        | "print_eps"
        | "print_figure"
        | "print_gif"
        | "print_jpeg"
        | "print_jpg"
        | "print_pdf"
        | "print_pgf"
        | "print_png"
        | "print_ps"
        | "print_raw"
        | "print_rgba"
        | "print_svg"
        | "print_svgz"
        | "print_tif"
        | "print_tiff"
        | "print_webp"
        | "to_typst"
        | "serialize_to"
        | "write_metadata_file"
        | "download" => entry(Write, 0, PATHS),
        // Of matplotlib's writers of animations.
        "saving" => entry(Write, 1, PATHS),
        // Plotly's first parameter is a configuration, pandas' is the path: only text counts.
        "to_html" | "to_image" => entry(Write, 0, PATHS),
        "save" => entry(Save, 0, PATHS),
        "set_file" => entry(Read, 0, &["file"]),
        "to_html5_video" => entry(Exec, 0, &[]),
        "to_pickle" | "to_hdf" | "dump" | "dumps" => entry(Pickle, 0, PATHS),
        "load" => entry(Unpickle, 0, &["fname"]),
        "to_sql" => entry(Database, 1, &["con"]),
        "to_gbq" | "to_iceberg" => entry(Network, 0, &[]),
        "to_clipboard" => entry(Clipboard, 0, &[]),
        "query" | "eval" => entry(Query, 0, &["expr"]),
        "from_formula" => entry(Formula, 0, &["formula"]),
        "set_imputer" => entry(Formula, 1, &["formula"]),
        "get_matrices" | "get_spec" => entry(Formula, usize::MAX, &["formula"]),
        "from_custom_template" => entry(Template, 0, &[]),
        "agg" | "aggregate" | "apply" | "transform" => entry(ByName, 0, &["func", "aggfunc"]),
        "pivot_table" => entry(ByName, 3, &["aggfunc"]),
        _ => None,
    }
}

/// Whether a method is worth following through a name.
pub fn is_known(name: &str) -> bool {
    method(name).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_read_from_its_class_counts_its_instance() {
        let e = member("pandas.DataFrame.to_csv").unwrap();
        assert_eq!((e.effect, e.index), (Effect::Write, 1));
        assert!(member("pandas.concat").is_none());
        assert_eq!(
            member("statsmodels.formula.api.ols").unwrap().effect,
            Effect::Formula
        );
    }
}
