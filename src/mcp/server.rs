//! The MCP server: which requests there are, and which tool or file each of them means.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CustomRequest, CustomResult,
    ErrorCode, GetTaskParams, GetTaskResult, Implementation, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceTemplate, ServerCapabilities,
    ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::json;
use tokio::sync::watch;

use crate::model::{Artifact, TOOLS, nearest};

use super::answer;
use super::arguments::echo;
use super::bound::Bound;
use super::files;
use super::link::Link;
use super::older;
use super::schemas::{INSTRUCTIONS, tools};
use super::tasks::{self, Notes};
use super::tools;

/// Files that `resources/list` knows; the oldest are forgotten first, and can still be read.
const REMEMBERED: usize = 200;

pub struct Adapter {
    pub link: Link,
    pub notes: Notes,
    pub bound: Bound,
    /// What a proposal runs under that names no profile; without it, the dashboard's default.
    pub profile: Option<String>,
    /// Becomes true once the agent closed its end.
    pub gone: watch::Receiver<bool>,
    files: Mutex<VecDeque<Resource>>,
}

impl Adapter {
    pub fn new(
        link: Link,
        notes: Notes,
        profile: Option<String>,
        gone: watch::Receiver<bool>,
    ) -> Self {
        Self {
            link,
            notes,
            bound: Bound::default(),
            profile,
            gone,
            files: Mutex::default(),
        }
    }

    pub fn remember(&self, id: &str, left: &[Artifact]) {
        let mut known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        for file in left {
            let link = files::link(id, file);
            if known.iter().any(|k| k.uri == link.uri) {
                continue;
            }
            if known.len() == REMEMBERED {
                known.pop_front();
            }
            known.push_back(link);
        }
    }

    fn remembered(&self) -> Vec<Resource> {
        let known = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().cloned().collect()
    }
}

impl ServerHandler for Adapter {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_tasks()
            .build();
        let name = Implementation::new("countersign", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(name)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let given = request.arguments;
        let answered = match &*request.name {
            "run_python" => match tools::run_python(self, given, &context, false).await {
                Ok(tools::Began::Task(task)) => return Ok(task.into()),
                Ok(tools::Began::Ended(result)) => Ok(result),
                Err(why) => Err(why),
            },
            "wait_for_run" => tools::wait_for_run(self, given, &context).await,
            "check_python" => tools::check_python(self, given).await,
            "list_datasets" => tools::list_datasets(self, given).await,
            "proposal_status" => tools::proposal_status(self, given).await,
            "read_artifact" => tools::read_artifact(self, given).await,
            other => {
                let near = nearest(other, TOOLS);
                let near = near.map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
                let message = format!("unknown tool `{}`{near}", echo(other));
                return Err(ErrorData::invalid_params(
                    message,
                    Some(json!({"tools": TOOLS})),
                ));
            }
        };
        Ok(answered.unwrap_or_else(answer::error).into())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        tasks::get(self, &request.task_id).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        tasks::cancel(self, &request.task_id).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let params = request.params.unwrap_or_default();
        let older = older::answer(self, &request.method, &params, &context).await;
        if let Some(answer) = older {
            return answer.map(CustomResult::new);
        }
        let message = format!("there is no method `{}` here", echo(&request.method));
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(self.remembered()))
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = ResourceTemplate::new(files::TEMPLATE, "file of a run")
            .with_description("A file that a run of run_python left.");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let Some((id, name)) = files::of_uri(&uri) else {
            let message = format!(
                "`{}` is no file of a run; URIs are {}",
                echo(&uri),
                files::TEMPLATE
            );
            return Err(ErrorData::resource_not_found(message, None));
        };
        let content = files::whole(&self.link, id, name).await;
        let content = content.map_err(|e| ErrorData::resource_not_found(e.to_string(), None))?;
        let known = self.remembered().into_iter().find(|file| file.uri == uri);
        let media_type = known.and_then(|file| file.mime_type);
        let contents = files::contents(uri.clone(), content, media_type.as_deref());
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
